import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json as jsonOf, text } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { startCli } from '../../../test/support/start-cli.ts'

const ID = '01a202dc-306e-7099-ac63-20f7668f6c6d'
const SOURCE = 'https://example.com/film.mp4'
const AT = '2026-01-01T00:00:05.000Z'

const failing = { status: 'uploading', failures: 1, lastError: 'The source responded with status 503.' }
const there = { status: 'transferred', failures: 0, lastError: null }

const envOf = (server: Server) => ({
  SLUICE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  SLUICE_PIPE_ID: 'pipe_a',
  SLUICE_SENDER_TOKEN: 'sk_x',
})

/** Each request for the import's state returns the next of these. */
async function importAgainst(looks: (typeof failing | typeof there)[]): Promise<string> {
  let at = 0
  const server = createServer((req, res) => {
    const json = (status: number, body: object) =>
      res.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
    if (req.method === 'POST') return json(202, { data: [{ id: ID }] })
    const { status, ...shown } = looks[at++]!
    const from = { url: SOURCE, nextAttemptAt: status === 'uploading' ? AT : null, fetching: false, ...shown }
    json(200, { id: ID, filename: 'film.mp4', size: 5, offset: 0, status, import: from })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const child = startCli(['import', SOURCE], envOf(server))
  const said = await text(child.stderr)
  server.close().closeAllConnections()
  return said
}

it('reports once why and when an import is retried', async () => {
  expect(await importAgainst([failing, failing, there])).toBe(
    `${SOURCE}: The source responded with status 503. Next attempt at ${AT}.\nfilm.mp4: 5 bytes\n`,
  )
})

it('imports both the URLs in its arguments and those from standard input', async () => {
  const asked: string[] = []
  const server = createServer(async (req, res) => {
    const { files } = (await jsonOf(req)) as { files: { url: string }[] }
    asked.push(...files.map(({ url }) => url))
    res.writeHead(202, { 'Content-Type': 'application/json' })
    res.end(JSON.stringify({ data: files.map((_, n) => ({ id: String(n) })) }))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const child = startCli(['import', `${SOURCE}?1`, '-', '--no-wait'], envOf(server))
  child.stdin.end(`${SOURCE}?2\r\n${SOURCE}?a film\n`)
  await text(child.stdout)
  server.close().closeAllConnections()
  expect(asked).toEqual([`${SOURCE}?1`, `${SOURCE}?2`, `${SOURCE}?a film`])
})
