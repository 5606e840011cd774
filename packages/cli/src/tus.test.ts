import dns from 'node:dns'
import { expect, it, vi } from 'vitest'
import { send } from './tus.ts'

type Done = (error: null, addresses: dns.LookupAddress[]) => void

it('says why no address of a host with several addresses can be reached', async () => {
  const addresses = [
    { address: '127.0.0.1', family: 4 },
    { address: '::1', family: 6 },
  ]
  const lookup = (_: string, __: object, done: Done) => done(null, addresses)
  vi.spyOn(dns, 'lookup').mockImplementation(lookup as never)
  const sent = send({ method: 'HEAD', url: 'http://uploads.example.com:1/files/1', token: 'tmp_x' })
  await expect(sent).rejects.toThrow('ECONNREFUSED')
})
