import { randomBytes } from 'node:crypto'
import { and, eq, gte } from 'drizzle-orm'
import { expect, inject, it } from 'vitest'
import { events, webhookOutputs } from '#drizzle/schema/index.ts'
import type { Db } from '#lib/platform/db/database.ts'
import { openPostgres } from '#lib/platform/db/open-postgres.ts'
import { newWebhookSecret } from '#lib/platform/kernel/ids.ts'
import { secretPlace } from '#lib/webhooks/outputs/signing-secrets.ts'
import { insertLanded, PIPE, TOKEN } from '../../test/support/landed.ts'
import { createDatabase } from '../../test/support/postgres.ts'
import { startReceiver } from '../../test/support/receiver.ts'
import { startSluice, temporaryFolder } from '../../test/support/sluice.ts'
import { sourceBefore } from '../../test/support/source-before.ts'
import { fileIdOf, type TusClient, tusClient } from '../../test/support/tus-client.ts'
import { createSite, openTestBucket } from '../../test/support/upload-site.ts'
import { addOutput, testVault } from '../../test/support/webhook-rows.ts'

const MiB = 1024 * 1024

it('the previous version serves alongside this one while clients send and the schema changes, and alone after a rollback', async ({
  skip,
}) => {
  const before = sourceBefore()
  if (!before) return skip('The git history does not include the previous version.')
  await using database = await openDatabase()
  using folder = temporaryFolder()
  const env = {
    ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    AUTH_SECRET: 'a'.repeat(40),
    BASE_URL: 'http://localhost:0',
    HOST: '127.0.0.1',
    ALLOWED_PRIVATE_HOSTS: '*',
    DATABASE_URL: database.url,
    DATA_DIR: folder.path,
    ROLES: 'upload',
  }
  const older = await startSluice(env, before.folder)
  await using bucket = await openBucket()
  await insertLanded(database.db, bucket)
  const clientOf = ({ baseUrl }: { baseUrl: string }) =>
    tusClient({ url: baseUrl, pipeId: PIPE, token: TOKEN })
  const ofOlder = clientOf(older)
  const load = startLoad(ofOlder)
  // The newer version changes the schema while clients send.
  const newer = await startSluice({ ...env, ROLES: 'upload,worker' })
  const ofNewer = clientOf(newer)
  await using outputs = await addOutputs(database.db)
  load.spreadTo(ofNewer)
  await using two = await openTwo(database)
  const both = Promise.all([0, 6 * MiB].map((bytes) => sendToBoth(two, { older, newer }, bytes)))
  both.catch(() => {})
  const uploads = [
    { begins: ofOlder, goesOn: ofOlder },
    { begins: ofOlder, goesOn: ofNewer },
    { begins: ofNewer, goesOn: ofOlder },
    { begins: ofNewer, goesOn: ofNewer },
  ].map((nodes) => ({ ...nodes, whole: randomBytes(18 * MiB), id: '' }))

  for (const upload of uploads) {
    const { begins, whole } = upload
    const url = await begins.begin(whole.length)
    upload.id = fileIdOf(url)
    expect((await begins.patch(url, 0, whole.subarray(0, 6 * MiB + 1))).status).toBe(204)
  }
  // The first piece becomes a part; the others wait in the database as a tail.
  const second = [6 * MiB + 1, 7 * MiB] as const
  const third = [7 * MiB, 8 * MiB] as const
  for (const upload of uploads) {
    const { begins, goesOn, id } = upload
    expect((await goesOn.head(`${goesOn.collection}${id}`)).headers['upload-offset']).toBe(String(second[0]))
    expect(await carriesOn(goesOn, upload, second)).toBe(true)
    if (!(await carriesOn(begins, upload, third))) expect(await carriesOn(ofNewer, upload, third)).toBe(true)
  }
  await both
  const sent = await load.end()
  expect(sent.length).toBeGreaterThan(CLIENTS * 2)
  for (const { id, whole } of sent) expect((await bucket.object(`${id}/file`)).equals(whole)).toBe(true)
  const told = await outputs.getEverything()
  for (const node of [ofOlder, ofNewer])
    expect(sent.filter(({ id, endedAt }) => endedAt === node && told.includes(id))).not.toEqual([])
  expect(await newer.stop()).toBe(0)
  expect(await older.stop()).toBe(0)

  const back = await startSluice(env, before.folder)
  const ofBack = clientOf(back)
  expect((await fetch(`${back.baseUrl}/readyz`)).status).toBe(200)
  const last = [8 * MiB, 18 * MiB] as const
  const done = await Promise.all(uploads.map((upload) => carriesOn(ofBack, upload, last)))
  expect(done[0]).toBe(true)
  expect(await back.stop()).toBe(0)
  const left = uploads.filter((_, n) => !done[n])
  if (left.length > 0) {
    const again = await startSluice(env)
    for (const upload of left) expect(await carriesOn(clientOf(again), upload, last)).toBe(true)
    expect(await again.stop()).toBe(0)
  }
  for (const { whole, id } of uploads) expect((await bucket.object(`${id}/file`)).equals(whole)).toBe(true)
})

const CLIENTS = 4

/** Starts clients that each send one file after another, in two requests to alternating nodes. No request may fail. */
function startLoad(first: TusClient) {
  const nodes = [first]
  const sent: { id: string; whole: Buffer; endedAt: TusClient }[] = []
  let isOver = false
  const client = async (n: number) => {
    for (let round = 0; !isOver; round++) {
      const whole = randomBytes(200_000)
      const pick = (by: number) => nodes[(n + round + by) % nodes.length]!
      const made = await pick(0).create(whole.length)
      expect(made.status, made.body).toBe(201)
      const id = fileIdOf(made.headers.location!)
      for (const [by, from, to] of [
        [0, 0, 100_000],
        [1, 100_000, whole.length],
      ] as const) {
        const node = pick(by)
        const patched = await node.patch(`${node.collection}${id}`, from, whole.subarray(from, to))
        expect(patched.status, patched.body).toBe(204)
      }
      sent.push({ id, whole, endedAt: pick(1) })
    }
  }
  const working = Promise.all(Array.from({ length: CLIENTS }, (_, n) => client(n)))
  working.catch(() => {})
  return {
    spreadTo: (node: TusClient) => void nodes.push(node),
    async end() {
      isOver = true
      await working
      return sent
    },
  }
}

/**
 * Returns false if the previous version reports the file as locked, as it does when it cannot open the tail. It must
 * not write then.
 */
async function carriesOn(
  client: TusClient,
  { whole, id }: { whole: Buffer; id: string },
  [from, to]: readonly [number, number],
): Promise<boolean> {
  const patched = await client.patch(`${client.collection}${id}`, from, whole.subarray(from, to))
  expect([204, 423], patched.body).toContain(patched.status)
  return patched.status === 204
}

/** Creates a Pipe with two required destinations, which the older node does not support. */
async function openTwo(database: Awaited<ReturnType<typeof openDatabase>>) {
  const site = await createSite(database, { copies: [{ required: true }] })
  return { ...site, [Symbol.asyncDispose]: site.close }
}

/**
 * Sends this many bytes of a file to the newer node and the rest to the older one, which reports the file as locked. No
 * bytes may be lost in either bucket.
 */
async function sendToBoth(
  site: Awaited<ReturnType<typeof openTwo>>,
  { older, newer }: { older: { baseUrl: string }; newer: { baseUrl: string } },
  bytes: number,
): Promise<void> {
  const token = await site.token()
  const at = ({ baseUrl }: { baseUrl: string }) => tusClient({ url: baseUrl, pipeId: site.pipe.id, token })
  const whole = randomBytes(12 * MiB)
  const upload = { whole, id: fileIdOf(await at(newer).begin(whole.length)) }
  if (bytes > 0) expect(await carriesOn(at(newer), upload, [0, bytes])).toBe(true)
  const rest = [bytes, whole.length] as const
  expect(await carriesOn(at(older), upload, rest)).toBe(false)
  expect(await carriesOn(at(newer), upload, rest)).toBe(true)
  for (const { object } of [site.bucket, site.copies[0]!.bucket])
    expect((await object(`${upload.id}/file`)).equals(whole)).toBe(true)
}

/**
 * Adds two outputs that the older node does not know about, in addition to the one that it knows about: one for the
 * Pipe, and one for the entire workspace.
 */
async function addOutputs(db: Db) {
  const [first] = await db.select().from(webhookOutputs)
  const { id, workspaceId } = first!
  const receivers = await Promise.all([startReceiver(), startReceiver(), startReceiver()])
  const [known, ofPipe, ofWorkspace] = receivers
  const secretEncrypted = testVault.seal(newWebhookSecret(), secretPlace(id))
  await db.update(webhookOutputs).set({ url: known.url, secretEncrypted }).where(eq(webhookOutputs.id, id))
  await addOutput(db, ofPipe.url, { workspaceId, pipeId: null, furtherPipeId: PIPE })
  await addOutput(db, ofWorkspace.url, { workspaceId, pipeId: null })
  const since = new Date()
  return {
    /** Waits until each output has received every event since it was created, and returns the files of these events. */
    async getEverything() {
      const own = and(eq(events.workspaceId, workspaceId), gte(events.createdAt, since))
      const all = await db.select().from(events).where(own)
      const ids = all.map((event) => event.id)
      for (const receiver of receivers) {
        const got = () => new Set(receiver.received.map(({ headers }) => headers['webhook-id']))
        while (!ids.every((id) => got().has(id))) await receiver.gets(receiver.received.length + 1)
      }
      return all.map(({ fileId }) => fileId)
    },
    [Symbol.asyncDispose]: async () => {
      for (const receiver of receivers) await receiver.stop()
    },
  }
}

async function openDatabase() {
  const { url, drop } = await createDatabase(inject('postgresUrl'))
  const handle = openPostgres({ address: url })
  const close = async () => {
    await handle.close()
    await drop()
  }
  return { ...handle, url, [Symbol.asyncDispose]: close }
}

async function openBucket() {
  const bucket = await openTestBucket()
  return { ...bucket, [Symbol.asyncDispose]: bucket.close }
}
