import { expect, it } from 'vitest'
import { routeOf } from './read-request.ts'

it.each([
  ['/pipes/pipe_x1/files/', '/pipes/:id/files/'],
  ['/pipes/pipe_x1/files/01a20574-d490-7407-8156-f766fe327c01', '/pipes/:id/files/:id'],
  ['/pipes/pipe_x1/files/payslip-jane-doe.pdf?x=1', '/pipes/:id/files/:name'],
  ['/pipes/pipe_x1/files/a/b c.pdf', '/pipes/:id/files/:name'],
  ['/u/AbCdEfGhIjKlMnOpQrStUv?_rsc=1', '/u/:code'],
  ['/u/AbCdEfGhIjKlMnOpQrStUv.', '/u/:code'],
])('writes %s to logs and traces as %s', (url, route) => {
  expect(routeOf(url)).toBe(route)
})
