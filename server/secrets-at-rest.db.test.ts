import { randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { expect, it } from 'vitest'
import { handleApiRequest } from '../lib/api/handle-request.ts'
import { ensureDemo } from '../lib/dashboard/demo/ensure-demo.ts'
import { requestPasswordReset } from '../lib/identity/accounts/change-password.ts'
import { workOnMail } from '../lib/identity/accounts/mail-worker.ts'
import { hashPassword } from '../lib/identity/accounts/password.ts'
import { signIn } from '../lib/identity/accounts/sign-in.ts'
import { signUp } from '../lib/identity/accounts/sign-up.ts'
import { rows } from '../lib/platform/db/database.ts'
import { openMailJob } from '../lib/platform/mail/mail.ts'
import { describeWithDatabase } from '../test/support/databases.ts'
import { testRuntime } from '../test/support/runtime.ts'
import { createTestWorkspace } from '../test/support/workspace.ts'

/** A secret's possible forms: plain text, and Base64 without padding. */
const forms = (secret: string) => [secret, Buffer.from(secret).toString('base64').replace(/=+$/, '')]

describeWithDatabase('a dump of the database and the logs', (database) => {
  it('contains no usable secret', async () => {
    const runtime = testRuntime(database(), { DATA_DIR: `/tmp/sluice-secrets-${process.pid}` })
    const secrets: Record<string, string> = {}
    const password = 'a-password-of-somebody'
    const mine = await createTestWorkspace(runtime, await hashPassword(password))
    Object.assign(secrets, { password, accountKey: mine.accountKey.key, senderToken: mine.sender.token })
    secrets.bucketSecret = `secret-of-${mine.email}`

    let calls = 0
    const call = async (method: string, path: string, body?: object, key = mine.accountKey.key) => {
      const headers = {
        Authorization: `Bearer ${key}`,
        ...(method === 'POST' && { 'Idempotency-Key': `key-${++calls}` }),
        ...(body && { 'Content-Type': 'application/json' }),
      }
      const request = new Request(`http://localhost:3000/api/v1${path}`, {
        method,
        headers,
        body: JSON.stringify(body),
      })
      return (await handleApiRequest(runtime, request)).json()
    }
    secrets.secondBucketSecret = 'second-bucket-secret'
    const place = { name: 'B', provider: 'minio', endpoint: 'http://127.0.0.1:1', bucket: 'bbb' }
    await call('POST', '/data-stores', {
      ...place,
      accessKeyId: 'KEY',
      secretAccessKey: secrets.secondBucketSecret,
    })
    secrets.createdSender = (await call('POST', '/senders', { name: 'S' })).token
    secrets.rotatedSender = (await call('POST', `/senders/${mine.sender.id}/rotate`, {})).token
    secrets.createdKey = (await call('POST', '/account-keys', { name: 'K' })).key
    secrets.webhook = (
      await call('PUT', `/pipes/${mine.pipe.id}/webhook`, { url: 'http://127.0.0.1:1/' })
    ).secret
    secrets.rotatedWebhook = (await call('POST', `/pipes/${mine.pipe.id}/webhook/rotate`)).secret
    await call('POST', `/pipes/${mine.pipe.id}/webhook/test`)
    const headers = { 'X-Api-Key': `header-${randomBytes(12).toString('hex')}` }
    secrets.staticHeader = headers['X-Api-Key']
    secrets.outputOfAll = (await call('POST', '/outputs', { url: 'http://127.0.0.1:1/', headers })).secret
    secrets.token = (await call('POST', '/tokens', { pipeId: mine.pipe.id }, secrets.rotatedSender)).token

    secrets.newPassword = 'another-password-of-mine'
    await signUp(runtime, { email: 'new@example.com', password: secrets.newPassword }, '192.0.2.1')
    await signIn(runtime, { email: 'new@example.com', password: 'a-wrong-guess-of-it' }, '192.0.2.1').catch(
      () => {},
    )
    secrets.wrongPassword = 'a-wrong-guess-of-it'
    await requestPasswordReset(runtime, { email: mine.email }, '192.0.2.1')
    for (const { queue, data } of runtime.jobs) {
      if (queue !== 'mail') continue
      const job = openMailJob(runtime, data as { sealed: string })
      if (job.kind === 'mail') secrets.link = job.mail.text.match(/#(\S+)/)![1]!
      await workOnMail(runtime, data as { sealed: string })
    }
    const bucket = {
      endpoint: 'http://127.0.0.1:1',
      region: 'r',
      name: 'demo',
      directory: '/d',
      accessKeyId: 'PUT',
      secretAccessKey: `demo-${randomBytes(12).toString('hex')}`,
      reader: { accessKeyId: 'READ', secretAccessKey: `reader-${randomBytes(12).toString('hex')}` },
    }
    const demo = await ensureDemo(runtime, { bucket })
    Object.assign(secrets, {
      demoPassword: demo.password,
      demoKey: demo.accountKey,
      demoSender: demo.senderToken,
      demoWebhook: demo.webhookSecret,
      demoBucket: bucket.secretAccessKey,
      demoReader: bucket.reader.secretAccessKey,
    })
    // Errors are logged with everything they contain.
    for (const [name, secret] of Object.entries(secrets))
      runtime.log.debug({ [name]: 1, headers: { authorization: `Bearer ${secret}` } }, 'request')
    const broken = {
      ...runtime,
      db: {
        _: { session: { prepareQuery: () => ({ execute: () => Promise.reject(new Error('broken')) }) } },
      },
    } as never
    const failing = new Request('http://localhost:3000/api/v1/pipes', {
      headers: { Authorization: `Bearer ${mine.accountKey.key}` },
    })
    expect((await handleApiRequest(broken, failing)).status).toBe(500)

    expect(Object.keys(secrets).filter((name) => !secrets[name])).toEqual([])
    const dump = [await dumpOf(database().db), JSON.stringify(runtime.jobs), ...runtime.logLines].join('\n')
    expect(dump).toContain(mine.email)
    const found = Object.entries(secrets).filter(([, secret]) =>
      forms(secret).some((form) => dump.includes(form)),
    )
    expect(found.map(([name]) => name)).toEqual([])
  })
})

/** Every row of every table, as text. */
async function dumpOf(db: Parameters<typeof rows>[0]): Promise<string> {
  const tables = await rows<{ schema: string; name: string }>(
    db,
    sql`select table_schema as schema, table_name as name from information_schema.tables
      where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`,
  )
  const texts = await Promise.all(
    tables.map(({ schema, name }) =>
      rows<{ row: string }>(
        db,
        sql`select t::text as row from ${sql.identifier(schema)}.${sql.identifier(name)} t`,
      ),
    ),
  )
  return texts
    .flat()
    .map(({ row }) => row)
    .join('\n')
}
