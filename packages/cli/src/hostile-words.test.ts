import { once } from 'node:events'
import { chmodSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startCli } from '../../../test/support/start-cli.ts'

/**
 * Runs every command against a server whose responses all try to control the terminal: they set its title with ESC and
 * C1 sequences, move its cursor, add a line, and reverse the text direction.
 */
const EVIL = 'a\u001b]0;PWNED\u0007\u009b2J\rb\nforged line\u007f\u202egpj.exe'
// biome-ignore lint/suspicious/noControlCharactersInRegex: the output must not contain these.
const STEERING = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/
const ID = '01a202dc-306e-7099-ac63-20f7668f6c6d'
const home = join(tmpdir(), `sluice-hostile-${process.pid}`)
const evilFile = join(home, 'a\u001b]0;PWNED\u0007.bin')

const server = createServer(answer)
let url: string
beforeAll(async () => {
  mkdirSync(join(home, 'kept'), { recursive: true })
  writeFileSync(evilFile, 'bytes')
  const things = { version: 1, pipes: [{ name: `other ${EVIL}`, dataStore: EVIL }], senders: [] }
  writeFileSync(join(home, 'sluice.yaml'), JSON.stringify(things))
  writeFileSync(join(home, 'headers'), `webhook-id: ${EVIL}\nwebhook-signature: v1,x\nwebhook-timestamp: 1`)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
  rmSync(home, { recursive: true })
})

const LISTS: Record<string, object[]> = {
  '/api/v1/pipes': [{ id: 'pipe_a', name: EVIL, source: { http: false } }],
  '/api/v1/data-stores': [{ id: ID, name: EVIL }],
  '/api/v1/deliveries': [{ id: EVIL, url: EVIL }],
  '/api/v1/senders': [{ id: ID, name: EVIL, revokedAt: null }],
  '/api/v1/outputs': [{ id: ID, name: EVIL, url: EVIL, headerNames: [EVIL] }],
  '/api/v1/pipes/pipe_a/outputs': [],
  '/api/v1/upload-links': [{ id: ID, title: EVIL, state: 'open', filesCreated: 0, maxFiles: null }],
}
const CHECK = { ok: false, operations: [{ name: EVIL, ok: false, message: EVIL }] }

function answer({ method, url: path = '' }: IncomingMessage, res: ServerResponse): void {
  const json = (status: number, body: object) =>
    res.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
  const { pathname } = new URL(path, url)
  const listed = method === 'GET' && LISTS[pathname]
  if (pathname === '/hook') return void res.writeHead(200).end()
  if (listed) return void json(200, { data: listed, nextCursor: null })
  if (pathname.endsWith('/check')) return void json(200, { id: ID, name: EVIL, check: CHECK })
  if (pathname === '/api/v1/events/stream') {
    const event = { id: ID, data: { status: EVIL, filename: EVIL, file_id: EVIL } }
    res.writeHead(200, { 'Content-Type': 'text/event-stream' })
    return void res.write(`id: ${ID}\nevent: file.status_changed\ndata: ${JSON.stringify(event)}\n\n`)
  }
  json(403, { type: 'about:blank', title: EVIL, status: 403, code: 'forbidden', detail: EVIL })
}

async function run(args: string[], { end, input = '' }: { end?: string; input?: string } = {}) {
  const kept = join(home, 'kept')
  const env = { SLUICE_CONFIG_DIR: kept, SLUICE_URL: url, SLUICE_ACCOUNT_KEY: 'ak_x' }
  const child = startCli(args, { ...env, SLUICE_PIPE_ID: 'pipe_a', SLUICE_SENDER_TOKEN: 'sk_x' })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      said += chunk
      if (end && said.includes(end)) child.kill('SIGTERM')
    })
  child.stdin.end(input)
  await once(child, 'close')
  return said
}

const commands: [name: string, args: () => string[], options?: { end?: string; input?: string }][] = [
  ['login', () => ['login', '--url', url], { input: 'ak_x' }],
  ['upload', () => ['upload', evilFile]],
  ['upload of a missing file', () => ['upload', join(home, EVIL)]],
  ['import', () => ['import', 'https://example.com/film.mp4']],
  ['listen', () => ['listen', '--forward-to', `${url}/hook`, '--from-now'], { end: ' ms\n' }],
  ['trigger', () => ['trigger', EVIL, '--forward-to', `${url}/hook`]],
  ['resend', () => ['resend', EVIL]],
  ['resend of all failed deliveries', () => ['resend', '--failed-since', EVIL]],
  ['repair', () => ['repair', EVIL]],
  ['verify', () => ['verify', '--headers', join(home, 'headers'), '--body', join(home, 'headers')]],
  ['doctor', () => ['doctor']],
  ['tokens', () => ['tokens', 'create']],
  ['links', () => ['links', 'list']],
  ['links with an error response', () => ['links', 'create', '--title', EVIL]],
  ['export', () => ['export']],
  ['apply', () => ['apply', '-f', join(home, 'sluice.yaml'), '--check']],
  ['apply of a missing file', () => ['apply', '-f', join(home, EVIL)]],
  ['an unknown option', () => ['doctor', `--${EVIL}`]],
  ['an unknown command', () => [EVIL]],
]

it.concurrent.each(commands)(
  '%s escapes characters that would control the terminal',
  async (name, args, options) => {
    const said = await run(args(), options)
    expect(said).not.toMatch(STEERING)
    expect(said).not.toMatch(/^forged line/m)
    if (!['login', 'trigger', 'verify', 'export'].includes(name)) expect(said).toContain('\\u001b]0;PWNED')
  },
)

it.concurrent.each(commands.filter(([name]) => name !== 'listen'))(
  '%s --json escapes characters that would control the terminal',
  { tags: 'long' },
  async (_, args, options) => {
    expect(await run([...args(), '--json'], options)).not.toMatch(STEERING)
  },
)

it('covers every command that the help lists', async () => {
  const listed = (await run(['help'])).matchAll(/^ {2}(\w+) /gm)
  const names = commands.map(([name]) => name.split(' ')[0])
  expect([...listed].map(([, name]) => name).filter((name) => !names.includes(name))).toEqual([])
})

it('makes its stored position readable only by its user, even if an older version created the file', async () => {
  const kept = join(home, 'kept')
  const places = () => readdirSync(kept).filter((name) => name.startsWith('listen-'))
  for (const name of places()) chmodSync(join(kept, name), 0o644)
  await run(['listen', '--forward-to', `${url}/hook`, '--from-now'], { end: ' ms\n' })
  expect(places()).toHaveLength(1)
  for (const name of places()) expect(statSync(join(kept, name)).mode & 0o777).toBe(0o600)
})

it('warns about an unencrypted login, except to this machine', async () => {
  expect(await run(['login', '--url', 'http://sluice.invalid'], { input: 'ak_x' })).toContain('is not https')
  expect(await run(['login', '--url', url], { input: 'ak_x' })).not.toContain('is not https')
})
