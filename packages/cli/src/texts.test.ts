import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startCli } from '../../../test/support/start-cli.ts'
import manifest from '../package.json' with { type: 'json' }

/** What the program says when something is missing or rejected. */
const folder = mkdtempSync(join(tmpdir(), 'sluice-texts-'))
const [film, notes] = [join(folder, 'film.mp4'), join(folder, 'notes.txt')]
const server = createServer(answer)
let url: string
beforeAll(async () => {
  writeFileSync(film, 'x'.repeat(1234))
  writeFileSync(notes, 'y'.repeat(766))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.close().closeAllConnections()
  rmSync(folder, { recursive: true })
})

/** Has two Pipes, and rejects text. */
async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const json = (status: number, body: object) =>
    res.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
  const pipes = [
    { id: 'pipe_a', name: 'Films' },
    { id: 'pipe_b', name: 'Photos' },
  ]
  await text(req)
  if (req.method === 'GET') return void json(200, { data: pipes, nextCursor: null })
  if (req.url === '/files/') {
    const type = /filetype (\S+?)(,|$)/.exec(String(req.headers['upload-metadata']))?.[1] ?? ''
    if (Buffer.from(type, 'base64').toString() === 'text/plain') return void json(403, { detail: 'No text.' })
    const headers = { Location: '/files/1', 'Upload-Offset': req.headers['upload-length'] }
    return void res.writeHead(201, headers).end()
  }
  json(201, { token: 'tmp_x', uploadUrl: `${url}/files/`, expiresAt: '2126-01-01T00:00:00Z' })
}

async function run(
  args: string[],
  more: Record<string, string> = {},
  stream: 'stdout' | 'stderr' = 'stderr',
): Promise<string> {
  const env = {
    SLUICE_CONFIG_DIR: folder,
    SLUICE_URL: url,
    SLUICE_ACCOUNT_KEY: 'ak_x',
    SLUICE_SENDER_TOKEN: 'sk_x',
    ...more,
  }
  const child = startCli(args, env)
  return text(child[stream])
}
const upload = (...files: string[]) => run(['upload', ...files, '--pipe', 'pipe_a'])

it('lists the Pipes if there are several', async () => {
  expect(await run(['upload', film])).toBe(
    'There are several Pipes: specify one with --pipe.\n  pipe_a  Films\n  pipe_b  Photos\n',
  )
})

it('prints its version', async () => {
  expect(await run(['--version'], {}, 'stdout')).toBe(`${manifest.version}\n`)
})

it('says that a file does not exist', async () => {
  expect(await run(['upload', 'nope.mp4', '--pipe', 'pipe_a'])).toBe(
    'nope.mp4: there is no such file or folder.\n',
  )
})

it('shows what has arrived, in a suitable unit', async () => {
  const bar = '█'.repeat(30)
  expect(await upload(film)).toBe(`1 file, ${bar} 100%  1.2 kB of 1.2 kB\n`)
})

it('shows no progress for a rejected file', async () => {
  expect(await upload(notes)).toBe(`${notes}: 403 No text.\nThe file was not uploaded.\n`)
})

it('does not count a rejected file as progress', async () => {
  const said = await upload(film, notes)
  expect(said).toMatch(/^1 of 2 files, █+░+ 61% {2}1\.2 kB of 2\.0 kB$/m)
  expect(said).toMatch(/^1 of 2 files was not uploaded\.$/m)
})

it('suggests an address for listen that is not that of Sluice itself', async () => {
  expect(await run(['listen'])).toContain('for example --forward-to http://localhost:3001/api/webhook\n')
})

it.each([
  [
    ['nonsense', '--forward-to', 'http://localhost:1/'],
    'There is no status "nonsense". The statuses are transferred, ',
  ],
  [['failed'], 'Specify an address with --forward-to.'],
])('says what is wrong with trigger %j', async (args, words) => {
  expect(await run(['trigger', ...args])).toContain(words)
})
