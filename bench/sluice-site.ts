import { createAccount } from '#lib/identity/accounts/users.ts'
import type { DatabaseHandle } from '#lib/platform/db/database.ts'
import { openDatabase } from '#lib/platform/db/open-database.ts'
import { parseInput } from '#lib/platform/kernel/parse-input.ts'
import { createLogger } from '#lib/platform/log/log.ts'
import { createDataStore } from '#lib/workspace/data-stores/create-data-store.ts'
import { createPipe } from '#lib/workspace/pipes/create-pipe.ts'
import { pipeInput } from '#lib/workspace/pipes/pipe.ts'
import { createSender } from '#lib/workspace/senders/create-sender.ts'
import { issueToken } from '#lib/workspace/tokens/issue-token.ts'
import { tokenInput } from '#lib/workspace/tokens/token.ts'
import { makeReady } from '../test/support/make-ready.ts'
import { createDatabase } from '../test/support/postgres.ts'
import { testRuntime } from '../test/support/runtime.ts'
import { MALLOC, NODE_FLAGS } from '../test/support/sluice.ts'
import type { Target } from './load.ts'
import { type Measured, startMeasured } from './processes.ts'

export const MEMORY_BYTES = 256 * 1024 * 1024

export type SluiceNode = { node: Measured; target: Target; database: DatabaseHandle; drop(): Promise<void> }

/** One of the Pipe's buckets. */
export type SinkPlace = { url: string; required: boolean }

/**
 * Starts a real server that has one Pipe and its own database on this PostgreSQL server. The Pipe's bucket is the sink,
 * unless several are given. By default, the server runs from its source.
 */
export async function startSluiceNode(
  postgresUrl: string,
  sinks: string | readonly SinkPlace[],
  env: Record<string, string> = {},
  program?: string,
): Promise<SluiceNode> {
  const { url, drop } = await createDatabase(postgresUrl)
  const places = typeof sinks === 'string' ? [{ url: sinks, required: true }] : sinks
  return startNode(places, { DATABASE_URL: url, ...env }, { drop, program })
}

/** Starts the same server with its embedded database. */
export async function startEmbeddedNode(dataDir: string, sinkUrl: string): Promise<SluiceNode> {
  return startNode([{ url: sinkUrl, required: true }], { DATA_DIR: dataDir, DEMO: '0' })
}

/** The environment variables that differ between servers: the database, and TLS if it is used. */
type Place = Record<string, string> & {
  DATABASE_URL?: string
  DATA_DIR?: string
  DEMO?: string
  TLS_CERT_FILE?: string
}

async function startNode(
  sinks: readonly SinkPlace[],
  place: Place,
  { drop = async () => {}, program = '../server.ts' }: { drop?: () => Promise<void>; program?: string } = {},
): Promise<SluiceNode> {
  const env = {
    PORT: '0',
    HOST: '127.0.0.1',
    BASE_URL: `${place.TLS_CERT_FILE ? 'https' : 'http'}://127.0.0.1:0`,
    ROLES: 'upload',
    ...MALLOC,
    ...place,
    FREE_TIER_BYTES: '0',
    ALLOWED_PRIVATE_HOSTS: '*',
    LOG_LEVEL: 'warn',
    ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    AUTH_SECRET: 'a secret of thirty-two characters',
    UPLOAD_MEMORY_BYTES: String(MEMORY_BYTES),
  }
  const node = await startMeasured(program, env, NODE_FLAGS)
  const database = await open(place)
  const { pipeId, token } = await addPipe(database, sinks)
  return {
    node,
    target: {
      collection: `${node.url}/pipes/${pipeId}/files/`,
      headers: { Authorization: `Bearer ${token}` },
    },
    database,
    async drop() {
      await database.close()
      await drop()
    },
  }
}

function open({ DATABASE_URL: databaseUrl, DATA_DIR: dataDir = '' }: Place): Promise<DatabaseHandle> {
  return openDatabase({ databaseUrl, dataDir }, { log: createLogger('silent'), share: true })
}

async function addPipe(database: DatabaseHandle, sinks: readonly SinkPlace[]) {
  const runtime = { ...testRuntime(database), clock: { now: () => Date.now() } }
  const account = { email: 'bench@example.com', passwordHash: null, emailVerified: true }
  const { userId, workspaceId } = await createAccount(runtime, account)
  const actor = { workspaceId, kind: 'user', id: userId, label: 'bench', role: 'owner' } as const
  const destinations: { dataStoreId: string; required: boolean }[] = []
  for (const [n, { url, required }] of sinks.entries()) {
    const dataStore = await createDataStore(runtime, actor, {
      name: `Sink ${n + 1}`,
      provider: 'minio',
      endpoint: url,
      region: 'eu-west-1',
      bucket: `media-${n + 1}`,
      forcePathStyle: true,
      accessKeyId: 'KEY',
      secretAccessKey: 'secret',
    })
    await makeReady(runtime.db, dataStore)
    destinations.push({ dataStoreId: dataStore.id, required })
  }
  const fields = { name: 'Bench', destinations, source: { http: true } }
  const pipe = await createPipe(runtime, actor, parseInput(pipeInput, fields))
  const sender = await createSender(runtime, actor, { name: 'Bench' })
  const input = parseInput(tokenInput, { pipeId: pipe.id, expiresIn: 86_400 })
  const { token } = await issueToken(runtime, sender.token, input)
  return { pipeId: pipe.id, token }
}
