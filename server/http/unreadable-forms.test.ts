import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { refuseUnreadableForm } from './unreadable-forms.ts'

it.each([
  ['a form', 'POST', { 'content-type': 'multipart/form-data; boundary=x' }, 400],
  ['an action', 'POST', { 'content-type': 'text/plain', 'next-action': 'x' }, 400],
  ['anything else that is posted', 'POST', { 'content-type': 'application/json' }, 500],
  ['a page', 'GET', {}, 500],
])('takes a failure for the fault of the request for %s', async (_, method, headers, status) => {
  const server = createServer((req, res) => {
    refuseUnreadableForm(req, res)
    res.statusCode = 500
    res.end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  expect((await fetch(`http://127.0.0.1:${port}/`, { method, headers })).status).toBe(status)
  server.close()
})
