import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { expect, it } from 'vitest'
import { PassivePorts } from './passive-ports.ts'

it('gives every address each port, so that no address can use up the ports of another', async () => {
  const free = createServer().listen(0, '127.0.0.1')
  await once(free, 'listening')
  const { port } = free.address() as AddressInfo
  const ports = new PassivePorts({ host: '127.0.0.1', ports: { from: port, to: port }, onStranger: () => {} })
  await expect(ports.reserve('192.0.2.1')).rejects.toThrow('Every data port is in use')
  await new Promise((resolve) => free.close(resolve))

  const first = await ports.reserve('192.0.2.1')
  await expect(ports.reserve('192.0.2.1')).rejects.toThrow('Every data port is in use')
  const second = await ports.reserve('192.0.2.2')
  expect([first.port, second.port]).toEqual([port, port])
  first.release()
  ;(await ports.reserve('192.0.2.1')).release()
  second.release()
})
