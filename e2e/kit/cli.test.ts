import { once } from 'node:events'
import { readFileSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  demo,
  home,
  installCli,
  kit,
  pipeId,
  program,
  removeCli,
  run,
  sendFile,
  sluice,
} from './installed-cli.ts'

/** Checks the package, its settings, and the commands that run briefly. */
beforeAll(installCli)
afterAll(removeCli)

const { baseUrl, accountKey } = demo

it('contains one program, its README and its license, without secrets or paths from the build machine', () => {
  expect(kit.files.sort()).toEqual(['LICENSE', 'README.md', 'dist/sluice.js', 'package.json'])
  const text = readFileSync(program(), 'utf8')
  expect(text).not.toContain(process.cwd())
  expect(text).not.toMatch(/sourceMappingURL|\b(sk|tmp|ak|whsec)_[\w+/]{20,}/)
})

it('stores its settings in a file that nobody else can read, and reads the key from standard input', () => {
  const file = join(home.path, 'kept/settings.json')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ baseUrl, accountKey })
})

it.each([
  ['the command is unknown', ['nothing'], {}, 2],
  ['an option is unknown', ['doctor', '--nothing'], {}, 2],
  ['a file is missing', ['upload', '/there/is/no/such/file'], {}, 2],
  ['the key is refused', ['doctor'], { SLUICE_ACCOUNT_KEY: 'ak_nobody' }, 3],
  ['Sluice is down', ['doctor'], { SLUICE_URL: 'http://127.0.0.1:1', SLUICE_ACCOUNT_KEY: 'ak_x' }, 4],
])('reports with its exit code that %s', async (_, args, more, code) => {
  const ran = await run(args, { more })
  expect([ran.code, ran.stdout]).toEqual([code, ''])
  expect(ran.stderr).not.toMatch(/^ {4}at /m)
})

it("prints a command's usage on request", async () => {
  const { code, stderr } = await run(['upload', '--help'])
  expect([code, stderr]).toEqual([0, expect.stringMatching(/^Usage: sluice upload /)])
})

it('checks each bucket again, and reports problems', async () => {
  const show = () => sluice.showDataStore({ id: demo.dataStoreId })
  const { name, check, federation: _, assumedRole: __, ...bucket } = await show()
  const elsewhere = { ...bucket, name: 'Elsewhere', bucket: 'nowhere', secretAccessKey: 'x' }
  const { id } = await sluice.createDataStore(elsewhere)
  const { code, stdout } = await run(['doctor', '--json'])
  const findings: { what: string }[] = JSON.parse(stdout).findings
  expect(findings).toContainEqual({ ok: true, what: `Data Store ${name}` })
  expect((await show()).check?.checkedAt).not.toBe(check?.checkedAt)
  const found = findings.find(({ what }) => what === 'Data Store Elsewhere')
  expect([code, found]).toMatchObject([1, { ok: false, advice: expect.stringContaining('Put') }])
  await sluice.deleteDataStore({ id })
})

it('resends a webhook', async () => {
  const got: string[] = []
  const receiver = createServer((req, res) => {
    got.push(String(req.headers['webhook-id']))
    res.writeHead(204).end()
  }).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  const fields = { name: 'Resent', dataStoreId: demo.dataStoreId, source: { http: true } }
  const pipe = await sluice.createPipe(fields)
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
  await sluice.saveWebhookOutput({ id: pipe.id, url, enabled: true, statuses: [] })
  await sendFile(pipe.id)
  await expect.poll(() => got).toHaveLength(1)
  const delivery = async () => (await sluice.listDeliveries({ pipeId: pipe.id })).data[0]
  await expect.poll(delivery).toMatchObject({ state: 'delivered' })
  const { id } = (await delivery())!
  const sent = await run(['resend', id, '--json'])
  expect([sent.code, JSON.parse(sent.stdout)]).toMatchObject([0, { id }])
  await expect.poll(() => got).toEqual([got[0], got[0]])
  const since = ['resend', '--failed-since', '2026-01-01T00:00:00Z', '--pipe', pipe.id, '--json']
  expect(JSON.parse((await run(since)).stdout)).toMatchObject({ resent: 0 })
  receiver.close()
})

it('creates a token with its own Sender', async () => {
  const { stdout } = await run(['tokens', 'create', '--pipe', pipeId, '--subject', 'ada', '--json'])
  expect(JSON.parse(stdout)).toMatchObject({ token: expect.stringMatching(/^tmp_/), pipeId })
})
