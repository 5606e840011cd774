import { createAccount } from '#lib/identity/accounts/create-account.ts'
import { migrate } from '#lib/platform/db/migrate.ts'
import { openPostgres } from '#lib/platform/db/open-postgres.ts'
import { parseInput } from '#lib/platform/kernel/parse-input.ts'
import { createDataStore } from '#lib/workspace/data-stores/create-data-store.ts'
import { createPipe } from '#lib/workspace/pipes/create-pipe.ts'
import { pipeInput } from '#lib/workspace/pipes/pipe.ts'
import { createSender } from '#lib/workspace/senders/create-sender.ts'
import { issueToken } from '#lib/workspace/tokens/issue-token.ts'
import { tokenInput } from '#lib/workspace/tokens/token.ts'
import { makeReady } from '../test/support/make-ready.ts'
import { createDatabase } from '../test/support/postgres.ts'
import { testRuntime } from '../test/support/runtime.ts'
import { NODE_FLAGS } from '../test/support/sluice.ts'
import type { Target } from './load.ts'
import { type Measured, startMeasured } from './processes.ts'

export const MEMORY_BYTES = 256 * 1024 * 1024

export type SluiceNode = { node: Measured; target: Target; drop(): Promise<void> }

/** A real server on a PostgreSQL of its own, with one Pipe whose bucket is the sink. */
export async function startSluiceNode(postgresUrl: string, sinkUrl: string): Promise<SluiceNode> {
  const database = await createDatabase(postgresUrl)
  const handle = openPostgres({ address: database.url })
  await migrate(handle.db)
  const runtime = { ...testRuntime(handle), clock: { now: () => Date.now() } }
  const account = { email: 'bench@example.com', passwordHash: null, emailVerified: true }
  const { userId, workspaceId } = await createAccount(runtime, account)
  const actor = { workspaceId, kind: 'user', id: userId, label: 'bench' } as const
  const dataStore = await createDataStore(runtime, actor, {
    ...{ name: 'Sink', provider: 'minio', endpoint: sinkUrl, region: 'eu-west-1', bucket: 'media' },
    ...{ forcePathStyle: true, accessKeyId: 'KEY', secretAccessKey: 'secret' },
  })
  await makeReady(runtime.db, dataStore)
  const fields = { name: 'Bench', dataStoreId: dataStore.id, source: { http: true } }
  const pipe = await createPipe(runtime, actor, parseInput(pipeInput, fields))
  const sender = await createSender(runtime, actor, { name: 'Bench' })
  const input = parseInput(tokenInput, { pipeId: pipe.id, expiresIn: 86_400 })
  const { token } = await issueToken(runtime, sender.token, input)
  const env = {
    ...{ DATABASE_URL: database.url, PORT: '0', HOST: '127.0.0.1', BASE_URL: 'http://127.0.0.1:0' },
    ...{ ROLES: 'upload', FREE_TIER_BYTES: '0', ALLOWED_PRIVATE_HOSTS: '*', LOG_LEVEL: 'warn' },
    ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    AUTH_SECRET: 'a secret of thirty-two characters',
    UPLOAD_MEMORY_BYTES: String(MEMORY_BYTES),
  }
  const node = await startMeasured('../server.ts', env, NODE_FLAGS)
  await handle.close()
  return {
    node,
    target: {
      collection: `${node.url}/pipes/${pipe.id}/files/`,
      headers: { Authorization: `Bearer ${token}` },
    },
    drop: () => database.drop(),
  }
}
