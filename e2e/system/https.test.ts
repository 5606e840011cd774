import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { decode, encode } from 'next-auth/jwt'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createSluice } from '../../packages/node/src/client.ts'
import { CERTIFICATE } from '../../test/support/certificates.ts'
import { type Sluice, startSluice, temporaryFolder } from '../../test/support/sluice.ts'
import { fileIdOf, openPatch, tusClient } from '../../test/support/tus-client.ts'

/** Several processes that serve TLS themselves, with nothing in front of them. */
const MiB = 1024 * 1024
const AUTH_SECRET = randomBytes(32).toString('hex')
const folder = temporaryFolder()
const trusted = getCACertificates('default')
let sluice: Sluice
beforeAll(async () => {
  setDefaultCACertificates([...trusted, readFileSync(CERTIFICATE.cert, 'utf8')])
  sluice = await startSluice({
    DATA_DIR: folder.path,
    AUTH_SECRET,
    PROCESSES: '2',
    TLS_CERT_FILE: CERTIFICATE.cert,
    TLS_KEY_FILE: CERTIFICATE.key,
    NODE_EXTRA_CA_CERTS: CERTIFICATE.cert,
  })
})
afterAll(async () => {
  await sluice?.kill()
  setDefaultCACertificates(trusted)
  folder[Symbol.dispose]()
})

it('serves pages only over encrypted connections', async () => {
  expect(sluice.baseUrl).toMatch(/^https:\/\/localhost:\d+$/)
  const page = await fetch(`${sluice.baseUrl}/login`)
  expect(page.status).toBe(200)
  expect(page.headers.get('strict-transport-security')).toMatch(/max-age/)
  await expect(fetch(sluice.baseUrl.replace('https:', 'http:'))).rejects.toThrow('fetch failed')
})

it('stores sessions in a cookie bound to this host, and still accepts earlier cookies', async () => {
  const { baseUrl } = sluice
  const { email, password } = JSON.parse(readFileSync(join(folder.path, 'demo.json'), 'utf8'))
  const jar = (answer: Response) => answer.headers.getSetCookie().map((cookie) => cookie.split(';')[0])
  const csrf = await fetch(`${baseUrl}/api/auth/csrf`)
  const { csrfToken } = (await csrf.json()) as { csrfToken: string }
  const entered = await fetch(`${baseUrl}/api/auth/callback/credentials`, {
    method: 'POST',
    headers: { Cookie: jar(csrf).join('; ') },
    body: new URLSearchParams({ csrfToken, email, password }),
    redirect: 'manual',
  })
  const set = entered.headers.getSetCookie().find((cookie) => cookie.includes('session-token='))!
  expect(set).toMatch(/^__Host-next-auth\.session-token=.+; Path=\/; .*HttpOnly; Secure; SameSite=Lax$/)
  expect(set).not.toContain('Domain=')
  const token = set.split(';')[0]!.split('=')[1]!
  const dashboard = async (Cookie: string) =>
    (await fetch(`${baseUrl}/dashboard`, { headers: { Cookie }, redirect: 'manual' })).status
  expect(await dashboard(`__Host-next-auth.session-token=${token}`)).toBe(200)
  expect(await dashboard(`__Secure-next-auth.session-token=${token}`)).toBe(307)
  const { sid } = (await decode({ token, secret: AUTH_SECRET }))!
  const older = await encode({ token: { sid }, secret: AUTH_SECRET })
  expect(await dashboard(`__Secure-next-auth.session-token=${older}`)).toBe(200)
})

it("passes the image's health check", async () => {
  const [, command] = readFileSync('Dockerfile', 'utf8').match(/^HEALTHCHECK.*\n\s+CMD (\[.*\])$/m)!
  const [program, ...args] = JSON.parse(command!) as [string, ...string[]]
  const check = (env: object) =>
    spawnSync(program, args, { env: { ...process.env, PORT: new URL(sluice.baseUrl).port, ...env } }).status
  expect(check({ TLS_CERT_FILE: CERTIFICATE.cert })).toBe(0)
  expect(check({})).toBe(1)
})

it('resumes an interrupted upload, and delivers its webhook to itself', async () => {
  const { baseUrl } = sluice
  const demo = JSON.parse(readFileSync(join(folder.path, 'demo.json'), 'utf8'))
  const api = createSluice({ baseUrl, accountKey: demo.accountKey, senderToken: demo.senderToken })
  const { token, uploadUrl } = await api.issueToken({ pipeId: demo.pipeId })
  expect(uploadUrl).toMatch(/^https:/)
  const client = tusClient({ url: baseUrl, pipeId: demo.pipeId, token })
  const whole = randomBytes(12 * MiB)
  const url = await client.begin(whole.length)
  const cut = openPatch(client, url, { offset: 0, length: whole.length })
  await cut.write(whole.subarray(0, 7 * MiB))
  cut.cut()
  let offset = 0
  await expect.poll(async () => (offset = await client.offset(url))).toBeGreaterThan(0)
  expect((await client.patch(url, offset, whole.subarray(offset))).status).toBe(204)
  const fileId = fileIdOf(url)
  const state = async () => (await api.listDeliveries({ fileId })).data[0]?.state
  await expect.poll(state).toBe('delivered')
})
