import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { startCli } from '../../../test/support/start-cli.ts'

/** Which Sender the program uses after signing in again. Each account key belongs to a different workspace. */
type Sender = { id: string; name: string; tokenLast4: string; revokedAt: string | null; workspace: string }
let senders: Sender[]
const requests: string[] = []
let folder: string
const server = createServer(answer)
let url: string
beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => void server.close().closeAllConnections())
beforeEach(() => {
  senders = []
  folder = mkdtempSync(join(tmpdir(), 'sluice-login-'))
  return () => rmSync(folder, { recursive: true })
})

async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const json = (status: number, body: object) =>
    res.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
  requests.push(req.url!)
  const workspace = String(req.headers.authorization)
  const own = senders.filter((sender) => sender.workspace === workspace)
  const body = await text(req)
  const { pathname } = new URL(req.url!, url)
  if (pathname === '/api/v1/pipes') return void json(200, { data: [{ id: 'pipe_a' }], nextCursor: null })
  if (pathname === '/api/v1/tokens') return void json(201, { token: 'tmp_x', uploadUrl: url, expiresAt: '' })
  if (req.method === 'POST') {
    const token = `sk_${1000 + senders.length}`
    const tokenLast4 = token.slice(-4)
    const sender = { id: `s${senders.length}`, ...JSON.parse(body), tokenLast4, revokedAt: null, workspace }
    senders.push(sender)
    return void json(201, { ...sender, token })
  }
  if (pathname === '/api/v1/senders') return void json(200, { data: own, nextCursor: null })
  const found = own.find(({ id }) => pathname === `/api/v1/senders/${id}`)
  if (found) json(200, found)
  else json(404, { code: 'not_found', detail: 'There is no such Sender.' })
}

async function run(args: string[], input = ''): Promise<void> {
  expect(await runWith({}, args, input)).toEqual([0, ''])
}
async function runWith(more: Record<string, string>, args: string[], input = '') {
  const child = startCli(args, { SLUICE_CONFIG_DIR: folder, ...more })
  child.stdin.end(input)
  const [said] = await Promise.all([text(child.stderr), once(child, 'close')])
  return [child.exitCode, said]
}
/** Signs in, and does something that needs a Sender. */
async function signIn(key = 'ak_one', address = url): Promise<void> {
  await run(['login', '--url', address], key)
  await run(['tokens', 'create'])
}
const names = () => senders.map(({ name }) => name)
const savedToken = () => JSON.parse(readFileSync(join(folder, 'settings.json'), 'utf8')).senderToken

it('keeps its Sender when it signs in to the same workspace again', async () => {
  await signIn()
  await signIn()
  expect([names(), savedToken()]).toEqual([['Command line'], 'sk_1000'])
})

it('creates a Sender in another workspace', async () => {
  await signIn('ak_one')
  await signIn('ak_two')
  expect([names(), savedToken()]).toEqual([['Command line', 'Command line'], 'sk_1001'])
})

it('sends its token to no other address', async () => {
  await signIn()
  await signIn('ak_one', url.replace('127.0.0.1', 'localhost'))
  expect(savedToken()).toBe('sk_1001')
})

it('sends neither its token nor its key to the address in SLUICE_URL, unless it has signed in there', async () => {
  await signIn()
  const SLUICE_URL = url.replace('127.0.0.1', 'localhost')
  requests.length = 0
  for (const args of [['tokens', 'create', '--pipe', 'pipe_a'], ['doctor']]) {
    const [code, said] = await runWith({ SLUICE_URL }, args)
    expect([code, said]).toEqual([
      3,
      expect.stringContaining(`You are signed in to ${url}, not to ${SLUICE_URL}`),
    ])
  }
  const withKey = { SLUICE_URL, SLUICE_ACCOUNT_KEY: 'ak_two' }
  const [code, said] = await runWith(withKey, ['tokens', 'create', '--pipe', 'pipe_a'])
  expect([code, said]).toEqual([3, expect.stringContaining('set SLUICE_SENDER_TOKEN as well')])
  expect(requests).toEqual([])
})

it('accepts its own address with a slash at the end in SLUICE_URL', async () => {
  await run(['login', '--url', url], 'ak_one')
  expect(await runWith({ SLUICE_URL: `${url}/` }, ['tokens', 'create'])).toEqual([0, ''])
  await signIn()
  expect([names(), savedToken()]).toEqual([['Command line'], 'sk_1000'])
})

it('sends a token that was saved without an address to no server', async () => {
  writeFileSync(join(folder, 'settings.json'), JSON.stringify({ senderToken: 'sk_old' }))
  const given = { SLUICE_URL: url, SLUICE_ACCOUNT_KEY: 'ak_one' }
  expect(await runWith(given, ['tokens', 'create'])).toEqual([0, ''])
  expect(savedToken()).toBe('sk_1000')
})

it.each([
  ['was revoked', { revokedAt: '2026-01-01T00:00:00Z' }, ['Command line', 'Command line']],
  ['has a new token', { tokenLast4: 'abcd' }, ['Command line', 'Command line 2']],
])('creates another Sender if its own %s', async (_, change, expected) => {
  await signIn()
  Object.assign(senders[0]!, change)
  await signIn()
  expect([names(), savedToken()]).toEqual([expected, 'sk_1001'])
})

it('gives its Sender a name that no other Sender in the workspace has', async () => {
  for (let machine = 0; machine < 3; machine++) {
    rmSync(folder, { recursive: true })
    await signIn()
  }
  expect(names()).toEqual(['Command line', 'Command line 2', 'Command line 3'])
})
