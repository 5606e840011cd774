import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, expect, it } from 'vitest'
import { startCli } from '../../../test/support/start-cli.ts'

const DETAIL = 'The Data Store was changed during the check. Check it again.'
const page = (data: object[]) => ({ status: 200, body: { data, nextCursor: null } })
const answers: Record<string, { status: number; body: object }> = {
  'GET /api/v1/data-stores': page([{ id: 'busy', name: 'Busy' }]),
  'POST /api/v1/data-stores/busy/check': {
    status: 409,
    body: { type: 'about:blank', title: 'Conflict', status: 409, code: 'conflict', detail: DETAIL },
  },
  'GET /api/v1/pipes': page([{ id: 'off', name: 'Switched off', source: { http: false } }]),
  'GET /api/v1/deliveries': page([]),
}

const server = createServer((req, res) => {
  const { status, body } = answers[`${req.method} ${req.url?.split('?')[0]}`]!
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}).listen(0, '127.0.0.1')
afterAll(() => server.close())

it('reports a Data Store that cannot be checked now, and continues', async () => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const child = startCli(['doctor', '--json'], { SLUICE_URL: url, SLUICE_ACCOUNT_KEY: 'ak_x' })
  const [stdout, [code]] = await Promise.all([text(child.stdout), once(child, 'close')])
  expect([code, JSON.parse(stdout).findings.slice(1)]).toEqual([
    1,
    [
      { ok: false, what: 'Data Store Busy', advice: DETAIL },
      { ok: false, what: 'Pipe Switched off', advice: 'Its HTTP source is off.' },
    ],
  ])
})
