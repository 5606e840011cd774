import { once } from 'node:events'
import { createReadStream, type Dirent, type ReadStream } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { sql } from 'drizzle-orm'
import { createAccount } from '#lib/identity/accounts/users.ts'
import type { Actor } from '#lib/identity/audit/record-audit.ts'
import { type DatabaseHandle, rows } from '#lib/platform/db/database.ts'
import { type Clock, systemClock } from '#lib/platform/kernel/clock.ts'
import { parseInput } from '#lib/platform/kernel/parse-input.ts'
import { runRequest } from '#lib/platform/kernel/request-context.ts'
import type { Runtime } from '#lib/platform/runtime.ts'
import { createUploadHandler } from '#lib/protocols/create-upload-handler.ts'
import type { UploadTerms } from '#lib/uploads/rules/upload-terms.ts'
import { drainUploads, type UploadContext } from '#lib/uploads/upload-context.ts'
import { createDataStore } from '#lib/workspace/data-stores/create-data-store.ts'
import { createPipe } from '#lib/workspace/pipes/create-pipe.ts'
import { saveDestinations } from '#lib/workspace/pipes/destinations.ts'
import { pipeInput } from '#lib/workspace/pipes/pipe.ts'
import { createSender } from '#lib/workspace/senders/create-sender.ts'
import { issueToken } from '#lib/workspace/tokens/issue-token.ts'
import { tokenInput } from '#lib/workspace/tokens/token.ts'
import { ALL_ACTIONS, type BucketKey } from '#packages/local-bucket/key-ring.ts'
import { openUploads } from '#server/open-uploads.ts'
import { type Bucket, type BucketOptions, startBucket } from './bucket.ts'
import { QUICK_RETRIES_MS, testRuntime } from './runtime.ts'
import { fileIdOf, tusClient } from './tus-client.ts'
import { makeReady } from './workspace.ts'

/** A bucket with put-only credentials, unless the options specify other actions. */
export type TestBucket = Bucket & {
  name: string
  region: string
  key: BucketKey
  /** The keys of the bucket's objects. */
  objects(): Promise<string[]>
  object(key: string): Promise<Buffer>
  /** Like `object`, but for objects that are too large for memory. */
  readObject(key: string): ReadStream
  remove(key: string): Promise<void>
  /** Overwrites an object's bytes on disk, without a request to the bucket. */
  replace(key: string, bytes: Uint8Array): Promise<void>
  /** Multipart uploads that were started and neither completed nor aborted. */
  unfinished(): Promise<string[]>
}

const REGION = 'eu-west-1'

export async function openTestBucket(
  options: {
    actions?: BucketKey['actions']
    keepBytes?: boolean
    clock?: Clock
    rules?: BucketOptions['rules']
  } = {},
): Promise<TestBucket> {
  const directory = await mkdtemp(join(tmpdir(), 'sluice-bucket-'))
  const actions = options.actions ?? ['s3:PutObject']
  const key = { accessKeyId: 'PUTTER', secretAccessKey: 'secret-of-putter', actions }
  const reader = { accessKeyId: 'READER', secretAccessKey: 'secret-of-reader', actions: ALL_ACTIONS }
  const { keepBytes = true, clock = systemClock, rules = [] } = options
  const bucket = await startBucket({
    directory,
    region: REGION,
    buckets: ['media'],
    keys: [key, reader],
    keepBytes,
    durable: false,
    clock,
    rules,
  })
  const folder = join(directory, 'media')
  return {
    ...bucket,
    name: 'media',
    region: REGION,
    key,
    async objects() {
      const entries = await readAll(folder)
      const files = entries.filter((entry) => entry.isFile())
      return files.map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1)).sort()
    },
    object: (name) => readFile(join(folder, name)),
    readObject: (name) => createReadStream(join(folder, name), { highWaterMark: 1024 * 1024 }),
    remove: (name) => rm(join(folder, name)),
    async replace(name, bytes) {
      await mkdir(dirname(join(folder, name)), { recursive: true })
      await writeFile(join(folder, name), bytes)
    },
    unfinished: () => readdir(join(directory, '.sluice/uploads/media/open')).catch(() => []),
    async close() {
      await bucket.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

export type SiteOptions = {
  bucket?: Parameters<typeof openTestBucket>[0]
  provider?: string
  pipe?: Record<string, unknown>
  settings?: Record<string, string>
  /** The Pipe's additional destinations, each with its own bucket. */
  copies?: { required: boolean; bucket?: Parameters<typeof openTestBucket>[0] }[]
}

/** Creates a customer with a bucket, a Pipe and a Sender. */
export async function createSite(database: DatabaseHandle, options: SiteOptions = {}) {
  let offsetMs = 0
  const clock = {
    now: () => Date.now() + offsetMs,
    advance(ms: number) {
      offsetMs += ms
    },
  }
  const runtime = { ...testRuntime(database, options.settings), clock }
  const bucket = await openTestBucket({ clock, ...options.bucket })
  const email = `customer-${Math.random().toString(36).slice(2)}@example.com`
  const { userId, workspaceId } = await createAccount(runtime, {
    email,
    passwordHash: null,
    emailVerified: true,
  })
  const actor: Actor = { workspaceId, kind: 'user', id: userId, label: email, role: 'owner' }
  const provider = (options.provider ?? 'aws') as 'aws'
  const dataStore = await addDataStore(runtime, actor, provider, bucket)
  const fields = { name: 'Photos', dataStoreId: dataStore.id, source: { http: true }, ...options.pipe }
  const pipe = await createPipe(runtime, actor, parseInput(pipeInput, fields))
  const copies = await Promise.all(
    (options.copies ?? []).map(async ({ required, ...copy }) => {
      const bucket = await openTestBucket({ clock, ...copy.bucket })
      return { required, bucket, dataStore: await addDataStore(runtime, actor, provider, bucket) }
    }),
  )
  const further = copies.map(({ required, dataStore: { id } }) => ({ dataStoreId: id, required }))
  if (further.length > 0) {
    const destinations = [{ dataStoreId: dataStore.id, required: true }, ...further]
    await runtime.db.transaction((tx) => saveDestinations(tx, actor, pipe.id, destinations))
  }
  const sender = await createSender(runtime, actor, { name: 'Backend' })
  const token = async (input: Record<string, unknown> = {}): Promise<string> =>
    (await issueToken(runtime, sender.token, parseInput(tokenInput, { pipeId: pipe.id, ...input }))).token
  return {
    runtime,
    clock,
    bucket,
    copies,
    workspaceId,
    actor,
    dataStore,
    pipe,
    sender,
    token,
    /** Creates a TUS client with a new token. */
    client: async (node: { url: string }, input?: Record<string, unknown>) =>
      tusClient({ url: node.url, pipeId: pipe.id, token: await token(input) }),
    async statusOf(url: string): Promise<string | undefined> {
      const look = sql`select status from files where id = ${fileIdOf(url)}::uuid`
      return (await rows<{ status: string }>(database.db, look))[0]?.status
    },
    async close() {
      await Promise.all([bucket, ...copies.map((copy) => copy.bucket)].map((one) => one.close()))
    },
  }
}

async function addDataStore(runtime: Runtime, actor: Actor, provider: 'aws', bucket: TestBucket) {
  const dataStore = await createDataStore(runtime, actor, {
    name: 'Bucket',
    provider,
    endpoint: bucket.endpoint,
    region: bucket.region,
    bucket: bucket.name,
    forcePathStyle: true,
    accessKeyId: bucket.key.accessKeyId,
    secretAccessKey: bucket.key.secretAccessKey,
  })
  await makeReady(runtime.db, dataStore)
  return dataStore
}

export type Site = Awaited<ReturnType<typeof createSite>>

/** Starts a node that serves uploads, in the test's own process. */
export async function serveUploads(
  runtime: Runtime,
  options: {
    terms?: Partial<UploadTerms>
    checkpoint?: UploadContext['checkpoint']
    issuer?: string
  } = {},
) {
  const server = createServer({ requestTimeout: 0 }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const config = { ...runtime.config, baseUrl: options.issuer ?? url, uploadUrl: url }
  const bucket = { retryDelaysMs: QUICK_RETRIES_MS }
  const context = await openUploads(
    { ...runtime, config },
    { ...options, bucket, hookRetriesMs: QUICK_RETRIES_MS },
  )
  const handle = createUploadHandler({ config, log: runtime.log }, context)
  // Handles a request id as the server's front door does, for tests that set one.
  server.on('request', (req, res) => {
    const { 'x-request-id': id, traceparent } = req.headers as Record<string, string | undefined>
    void (id ? runRequest({ id, traceparent, notes: {} }, () => handle(req, res)) : handle(req, res))
  })
  return {
    url,
    server,
    context,
    async close() {
      await drainUploads(context)
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Starts over if a subfolder disappears before it is read: the bucket removes empty folders. */
async function readAll(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { recursive: true, withFileTypes: true })
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException
    if (code !== 'ENOENT' || path === folder) throw error
    return readAll(folder)
  }
}
