import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { expect, it } from 'vitest'
import { setBodyDeadline } from './body-deadline.ts'

it('cuts a body that drips, and lets one that came in time be answered', async () => {
  const server = createServer((req, res) => {
    setBodyDeadline(req, req.url === '/drip' ? 20 : 60_000)
    req.resume().once('end', () => res.end('thanks'))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const drip = connect(port, '127.0.0.1')
  drip.on('error', () => {})
  drip.write('POST /drip HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n.')
  await once(drip, 'close')
  const whole = await fetch(`http://127.0.0.1:${port}/whole`, { method: 'POST', body: 'all of it' })
  expect(await whole.text()).toBe('thanks')
  server.close()
})
