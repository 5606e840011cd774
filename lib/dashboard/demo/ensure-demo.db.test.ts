import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { dataStores, pipes, senders, webhookOutputs } from '#drizzle/schema/index.ts'
import { describeWithDatabase } from '../../../test/support/databases.ts'
import { type TestRuntime, testRuntime } from '../../../test/support/runtime.ts'
import { authenticateAccountKey } from '../../identity/accounts/authenticate-account-key.ts'
import { signIn } from '../../identity/accounts/sign-in.ts'
import { readSession } from '../../identity/sessions/read-session.ts'
import { createSession } from '../../identity/sessions/sessions.ts'
import { parseInput } from '../../platform/kernel/parse-input.ts'
import { issueToken } from '../../workspace/tokens/issue-token.ts'
import { tokenInput } from '../../workspace/tokens/token.ts'
import { type DemoBucket, ensureDemo } from './ensure-demo.ts'
import { issueDemoToken } from './issue-demo-token.ts'
import { readLocalDemo } from './local-demo.ts'

const bucket: DemoBucket = {
  endpoint: 'http://127.0.0.1:4001',
  region: 'us-east-1',
  name: 'demo',
  directory: '/data/bucket/demo',
  accessKeyId: 'PUTONLY',
  secretAccessKey: 'put-secret',
  reader: { accessKeyId: 'READER', secretAccessKey: 'read-secret' },
}

const elsewhere = { ...bucket, endpoint: 'http://127.0.0.1:5000', directory: '/elsewhere/bucket/demo' }

describeWithDatabase('the demo workspace', (database) => {
  let dataDir: string
  beforeAll(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'sluice-demo-'))
  })
  afterAll(() => rmSync(dataDir, { recursive: true }))
  const runtime = (env = {}) => testRuntime(database(), { DATA_DIR: dataDir, ...env })
  const written = () => JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8'))

  it('is created once, no matter how many processes start, with a demo.json that only its owner can read', async () => {
    const [document, ...others] = await Promise.all([1, 2, 3].map(() => ensureDemo(runtime(), { bucket })))
    expect(others).toEqual([document, document])
    expect(written()).toEqual(document)
    expect(statSync(join(dataDir, 'demo.json')).mode & 0o777).toBe(0o600)
    expect(document!).toMatchObject({
      accountKey: expect.stringMatching(/^ak_/),
      senderToken: expect.stringMatching(/^sk_/),
      webhookSecret: expect.stringMatching(/^whsec_/),
      pipeId: expect.stringMatching(/^pipe_/),
      bucket,
    })
    expect(await database().db.select().from(pipes)).toMatchObject([
      { id: document!.pipeId, sourceHttp: true },
    ])
  })

  it('is kept across restarts, and picks up port changes', async () => {
    const before = written()
    const moved = { ...bucket, endpoint: 'http://127.0.0.1:4999' }
    rmSync(join(dataDir, 'demo.json'))
    await ensureDemo(runtime({ BASE_URL: 'http://localhost:3111' }), { bucket: moved })
    expect(written()).toEqual({
      ...before,
      baseUrl: 'http://localhost:3111',
      uploadUrl: 'http://localhost:3111',
      bucket: moved,
    })
    expect(await database().db.select().from(dataStores)).toMatchObject([{ endpoint: moved.endpoint }])
    const [output] = await database().db.select().from(webhookOutputs)
    expect(output!.url).toMatch(/^http:\/\/localhost:3111\/api\/inbox\/.{32}$/)
    expect(await database().db.select().from(senders)).toHaveLength(1)
  })

  it('keeps the bucket of the process that created the demo when another process joins', async () => {
    const document = await ensureDemo(runtime(), { bucket: { ...elsewhere, accessKeyId: 'ANOTHER' } })
    expect(document.bucket).toMatchObject({ directory: bucket.directory, endpoint: 'http://127.0.0.1:4999' })
  })

  it('uses the new folder after DATA_DIR was moved or copied', async () => {
    const document = await ensureDemo(runtime(), { bucket: elsewhere })
    expect(document.bucket).toEqual(elsewhere)
    expect(written()).toEqual(document)
    expect(await database().db.select().from(dataStores)).toMatchObject([{ endpoint: elsewhere.endpoint }])
  })

  it('uses the bucket of its own DATA_DIR with the embedded database, even if the keys are new', async () => {
    const renewed = { ...bucket, accessKeyId: 'RENEWED', directory: '/third/bucket/demo' }
    const document = await ensureDemo(runtime({ DATABASE_URL: '' }), { bucket: renewed })
    expect(document.bucket).toEqual(renewed)
  })

  it('is open without a password only on a server that nobody else can reach', async () => {
    const local = { DATABASE_URL: '', DEMO: '1' }
    const document = await ensureDemo(runtime(local), { bucket })
    const { ownerId, ...read } = await readLocalDemo(runtime(local))
    expect(read).toEqual(document)
    const { email, password } = document
    expect(await signIn(runtime(local), { email, password }, '203.0.113.1')).toMatchObject({
      userId: ownerId,
    })
    const others: Record<string, string>[] = [
      { DATABASE_URL: 'postgres://somewhere' },
      { BASE_URL: 'https://files.example' },
      { TRUSTED_PROXIES: '10.0.0.0/8' },
      { DEMO: '0' },
    ]
    for (const settings of others)
      await expect(readLocalDemo(runtime({ ...local, ...settings }))).rejects.toMatchObject({
        code: 'not_found',
      })
  })

  it('limits tokens per network, not per address', async () => {
    const demo = runtime({ DEMO: '1' })
    await ensureDemo(demo, { bucket })
    for (let n = 1; n <= 10; n++) await issueDemoToken(demo, `2001:db8:7:1::${n}`)
    await expect(issueDemoToken(demo, '2001:db8:7:1::11')).rejects.toMatchObject({ code: 'rate_limited' })
    await issueDemoToken(demo, '2001:db8:7:2::1')
  })

  it('cannot be opened while DEMO is off, but can be opened once it is on again', async () => {
    const [on, off] = [runtime({ DEMO: '1' }), runtime({ DEMO: '0' })]
    const { email, password, accountKey, senderToken, pipeId } = await ensureDemo(on, { bucket })
    const { userId } = await signIn(on, { email, password }, '203.0.113.1')
    const { id } = await createSession(on, userId, { userAgent: null, address: null })
    const input = parseInput(tokenInput, { pipeId })
    const ways: Record<string, (into: TestRuntime) => Promise<unknown>> = {
      sign_in_failed: (into) => signIn(into, { email, password }, '203.0.113.1'),
      account_key_invalid: (into) => authenticateAccountKey(into, accountKey),
      token_invalid: (into) => issueToken(into, senderToken, input),
      not_found: (into) => issueDemoToken(into, '203.0.113.1'),
    }
    for (const [code, enter] of Object.entries(ways)) {
      await expect(enter(off), code).rejects.toMatchObject({ code })
      await enter(on)
    }
    expect(await readSession(off, id)).toBeUndefined()
    expect(await readSession(on, id)).toBeDefined()
  })
})
