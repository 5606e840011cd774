/** @module-tag long */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { and, eq, gte, sql } from 'drizzle-orm'
import { expect, inject, it } from 'vitest'
import { events } from '#drizzle/schema/index.ts'
import { type Db, rows } from '#lib/platform/db/database.ts'
import { openPostgres } from '#lib/platform/db/open-postgres.ts'
import { createDatabase } from '../../test/support/postgres.ts'
import { startReceiver } from '../../test/support/receiver.ts'
import { startSluice, temporaryFolder } from '../../test/support/sluice.ts'
import { fileIdOf, type TusClient, tusClient } from '../../test/support/tus-client.ts'
import type * as uploadSite from '../../test/support/upload-site.ts'
import { newerSource, olderSource } from '../../test/support/versions.ts'
import { addOutput } from '../../test/support/webhook-rows.ts'

const MiB = 1024 * 1024

/** The older version is the one in UPGRADE_FROM, or the oldest that can be upgraded. The newer one has a planted migration. */
it('an older version serves alongside this one while clients send and the schema changes, and alone after a rollback', async ({
  skip,
}) => {
  const [before, now] = [olderSource(), newerSource()]
  if (!before) return skip('The git history does not include the older version.')
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
  const older = await startSluice(env, before)
  // Only the older version's code can write to its schema.
  const { createSite }: typeof uploadSite = await import(join(before, 'test/support/upload-site.ts'))
  await using site = await closing(createSite(database, { copies: [{ required: true }] }))
  const token = await site.token()
  const clientOf = ({ baseUrl }: { baseUrl: string }) =>
    tusClient({ url: baseUrl, pipeId: site.pipe.id, token })
  const ofOlder = clientOf(older)
  const load = startLoad(ofOlder)
  // The newer version changes the schema while clients send.
  const newer = await startSluice({ ...env, ROLES: 'upload,worker' }, now)
  const ofNewer = clientOf(newer)
  await using output = await openOutput(database.db, { ...site, pipeId: site.pipe.id })
  load.spreadTo(ofNewer)
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
  for (const upload of uploads) {
    const { begins, goesOn, id } = upload
    expect(await goesOn.offset(`${goesOn.collection}${id}`)).toBe(6 * MiB + 1)
    await carryOn(goesOn, upload, [6 * MiB + 1, 7 * MiB])
    await carryOn(begins, upload, [7 * MiB, 8 * MiB])
  }
  const sent = await load.end()
  expect(sent.length).toBeGreaterThan(CLIENTS * 2)
  const told = await output.getEverything()
  for (const node of [ofOlder, ofNewer])
    expect(sent.filter(({ id, endedAt }) => endedAt === node && told.includes(id))).not.toEqual([])
  expect(await rows(database.db, sql`select planted from files limit 1`)).toHaveLength(1)
  expect(await newer.stop()).toBe(0)
  expect(await older.stop()).toBe(0)

  const back = await startSluice(env, before)
  expect((await fetch(`${back.baseUrl}/readyz`)).status).toBe(200)
  for (const upload of uploads) await carryOn(clientOf(back), upload, [8 * MiB, 18 * MiB])
  expect(await back.stop()).toBe(0)
  for (const { whole, id } of [...sent, ...uploads])
    for (const { object } of [site.bucket, site.copies[0]!.bucket])
      expect((await object(`${id}/file`)).equals(whole)).toBe(true)
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
      const id = fileIdOf(await pick(0).begin(whole.length))
      await carryOn(pick(0), { whole, id }, [0, 100_000])
      await carryOn(pick(1), { whole, id }, [100_000, whole.length])
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

async function carryOn(
  client: TusClient,
  { whole, id }: { whole: Buffer; id: string },
  [from, to]: readonly [number, number],
): Promise<void> {
  const patched = await client.patch(`${client.collection}${id}`, from, whole.subarray(from, to))
  expect(patched.status, patched.body).toBe(204)
}

async function openOutput(db: Db, { workspaceId, pipeId }: { workspaceId: string; pipeId: string }) {
  const receiver = await startReceiver()
  await addOutput(db, receiver.url, { workspaceId, pipeId })
  const since = new Date()
  return {
    /** Waits until every event since the output was created has arrived, and returns the files of these events. */
    async getEverything() {
      const own = and(eq(events.workspaceId, workspaceId), gte(events.createdAt, since))
      const all = await db.select().from(events).where(own)
      const got = () => new Set(receiver.received.map(({ headers }) => headers['webhook-id']))
      while (!all.every(({ id }) => got().has(id))) await receiver.gets(receiver.received.length + 1)
      return all.map(({ fileId }) => fileId)
    },
    [Symbol.asyncDispose]: () => receiver.stop(),
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

async function closing<Closable extends { close(): Promise<void> }>(opened: Promise<Closable>) {
  const one = await opened
  return { ...one, [Symbol.asyncDispose]: one.close }
}
