import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pointWebhookAtInbox } from '#lib/dashboard/demo/ensure-demo.ts'
import { createAccount } from '#lib/identity/accounts/users.ts'
import type { DatabaseHandle } from '#lib/platform/db/database.ts'
import { readPlace } from '#lib/platform/db/embedded/database-folder.ts'
import { openPostgres } from '#lib/platform/db/open-postgres.ts'
import { newWebhookSecret } from '#lib/platform/kernel/ids.ts'
import { parseInput } from '#lib/platform/kernel/parse-input.ts'
import { createDataStore } from '#lib/workspace/data-stores/create-data-store.ts'
import { dataStoreInput } from '#lib/workspace/data-stores/data-store.ts'
import { createPipe } from '#lib/workspace/pipes/create-pipe.ts'
import { pipeInput } from '#lib/workspace/pipes/pipe.ts'
import { createSender } from '#lib/workspace/senders/create-sender.ts'
import { issueToken } from '#lib/workspace/tokens/issue-token.ts'
import { tokenInput } from '#lib/workspace/tokens/token.ts'
import { createDatabase } from '../test/support/postgres.ts'
import { testRuntime } from '../test/support/runtime.ts'
import { MALLOC, NODE_FLAGS, PRELOADED } from '../test/support/sluice.ts'
import { makeReady } from '../test/support/workspace.ts'
import type { Target } from './load.ts'
import { type Measured, startMeasured } from './processes.ts'

export const MEMORY_BYTES = 256 * 1024 * 1024

export type SluiceNode = {
  node: Measured
  target: Target
  pipeId: string
  senderToken: string
  database: DatabaseHandle
  drop(): Promise<void>
}

/**
 * Starts a real server that has one Pipe and its own database on this PostgreSQL server. The Pipe's bucket is the sink.
 * By default, the server runs from its source.
 */
export async function startSluiceNode(
  postgresUrl: string,
  sinkUrl: string,
  settings: Record<string, string> = {},
  program = '../server.ts',
  bucket: object = S3_BUCKET,
): Promise<SluiceNode> {
  const { url: databaseUrl, drop } = await createDatabase(postgresUrl)
  const env = {
    HOST: '127.0.0.1',
    BASE_URL: `${settings.TLS_CERT_FILE ? 'https' : 'http'}://127.0.0.1:0`,
    ROLES: 'upload',
    ...MALLOC,
    DATABASE_URL: databaseUrl,
    ...settings,
    ...SETTINGS,
    UPLOAD_MEMORY_BYTES: String(MEMORY_BYTES),
  }
  const node = await startMeasured(program, env, NODE_FLAGS)
  const database = openPostgres({ address: databaseUrl })
  return {
    ...(await furnish(node, database, { ...bucket, endpoint: sinkUrl })),
    drop: () => close(database, drop),
  }
}

/**
 * Starts what `npm start` does: all roles in one process, with its own PostgreSQL. Its Pipe has a webhook, like that of
 * the demo workspace.
 */
export async function startDefault(sinkUrl: string): Promise<SluiceNode> {
  const dataDir = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
  const env = { ...SETTINGS, DATA_DIR: dataDir }
  const node = await startMeasured('../scripts/start.ts', env, [...PRELOADED, ...NODE_FLAGS])
  const database = openPostgres({ address: readPlace(join(dataDir, 'db')), maxConnections: 2 })
  const site = await furnish(node, database, { ...S3_BUCKET, endpoint: sinkUrl }, { withInbox: true })
  return { ...site, drop: () => close(database, async () => rmSync(dataDir, { recursive: true })) }
}

const SETTINGS = {
  PORT: '0',
  FREE_TIER_BYTES: '0',
  ALLOWED_PRIVATE_HOSTS: '*',
  LOG_LEVEL: 'warn',
  ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
  AUTH_SECRET: 'a secret of thirty-two characters',
}

async function close(database: DatabaseHandle, drop: () => Promise<void>): Promise<void> {
  await database.close()
  await drop()
}

const S3_BUCKET = {
  provider: 'minio',
  region: 'eu-west-1',
  bucket: 'media',
  accessKeyId: 'KEY',
  secretAccessKey: 'secret',
}

async function furnish(
  node: Measured,
  database: DatabaseHandle,
  bucket: object,
  { withInbox = false } = {},
): Promise<Omit<SluiceNode, 'drop'>> {
  const own = testRuntime(database, { BASE_URL: node.url })
  const runtime = { ...own, clock: { now: () => Date.now() } }
  const account = { email: 'bench@example.com', passwordHash: null, emailVerified: true }
  const { userId, workspaceId } = await createAccount(runtime, account)
  const actor = { workspaceId, kind: 'user', id: userId, label: 'bench', role: 'owner' } as const
  const sink = parseInput(dataStoreInput, { name: 'Sink', ...bucket })
  const dataStore = await createDataStore(runtime, actor, sink)
  await makeReady(runtime.db, dataStore)
  const fields = { name: 'Bench', dataStoreId: dataStore.id, source: { http: true } }
  const pipe = await createPipe(runtime, actor, parseInput(pipeInput, fields))
  if (withInbox)
    await pointWebhookAtInbox(runtime, { workspaceId, pipeId: pipe.id, secret: newWebhookSecret() })
  const sender = await createSender(runtime, actor, { name: 'Bench' })
  const input = parseInput(tokenInput, { pipeId: pipe.id, expiresIn: 86_400 })
  const { token } = await issueToken(runtime, sender.token, input)
  const target = {
    collection: `${node.url}/pipes/${pipe.id}/files/`,
    headers: { Authorization: `Bearer ${token}` },
  }
  return { node, pipeId: pipe.id, senderToken: sender.token, target, database }
}
