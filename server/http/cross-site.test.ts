import type { IncomingMessage } from 'node:http'
import { describe, expect, it } from 'vitest'
import { refuseCrossSite } from './cross-site.ts'

const form = { 'content-type': 'Multipart/Form-Data; boundary=x' }
const action = { 'content-type': 'text/plain', 'next-action': 'x' }
const check = (headers: Record<string, string>, method = 'POST') =>
  refuseCrossSite({ method, headers: { host: 'own.example:8080', ...headers } } as unknown as IncomingMessage)

describe.each([
  ['a form', form],
  ['an action', action],
])('%s', (_, headers) => {
  it.each(['https://evil.example', 'http://own.example', 'http://own.example.evil:8080', 'null', '', '://'])(
    'is refused from the origin "%s"',
    (origin) => {
      expect(() => check({ ...headers, origin })).toThrow(
        expect.objectContaining({ status: 403, code: 'cross_site_request' }),
      )
    },
  )

  it('is taken from its own host, and from what is no browser', () => {
    check({ ...headers, origin: 'http://own.example:8080' })
    check({ ...headers, origin: 'https://own.example:8080' })
    check(headers)
  })
})

it('leaves alone what calls no action', () => {
  const origin = 'https://evil.example'
  check({ origin, 'content-type': 'application/json' })
  // A sign-in provider may send its answer this way.
  check({ origin, 'content-type': 'application/x-www-form-urlencoded' })
  check({ origin, ...form }, 'PUT')
})
