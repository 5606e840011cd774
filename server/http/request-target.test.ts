import type { IncomingMessage } from 'node:http'
import { expect, it } from 'vitest'
import { toOriginForm } from './request-target.ts'

const read = (url: string, method = 'GET') => {
  const req = { url, method, headers: { host: 'header.example' } } as IncomingMessage
  toOriginForm(req)
  return [req.headers.host, req.url]
}

it.each([
  ['http://target.example/a?b', 'target.example', '/a?b'],
  ['HTTPS://Target.example:8080/a/../b', 'target.example:8080', '/a/../b'],
  ['http://target.example', 'target.example', '/'],
  ['http://target.example?a', 'target.example', '/?a'],
  ['http://header.example@target.example/', 'header.example@target.example', '/'],
  ['/a', 'header.example', '/a'],
  ['//target.example/a', 'header.example', '//target.example/a'],
])('takes the host of %s from the target', (url, host, path) => expect(read(url)).toEqual([host, path]))

it('leaves the asterisk to OPTIONS', () => {
  expect(read('*', 'OPTIONS')).toEqual(['header.example', '*'])
  for (const target of ['*', 'a.example:443', 'ftp://a/', ''])
    expect(() => read(target)).toThrow(/must be a path/)
})
