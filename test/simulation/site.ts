import type { SignedIn } from '#lib/folders/sign-in.ts'
import { hookInput } from '#lib/hooks/hook.ts'
import { saveHook } from '#lib/hooks/pipe-hooks.ts'
import type { Actor } from '#lib/identity/audit/record-audit.ts'
import { migrate } from '#lib/platform/db/migrate.ts'
import { openPostgres } from '#lib/platform/db/open-postgres.ts'
import { parseInput } from '#lib/platform/kernel/parse-input.ts'
import { createLogger } from '#lib/platform/log/log.ts'
import type { Runtime } from '#lib/platform/runtime.ts'
import { createDataStore } from '#lib/workspace/data-stores/create-data-store.ts'
import { issueToken } from '#lib/workspace/tokens/issue-token.ts'
import { tokenInput } from '#lib/workspace/tokens/token.ts'
import { type TestRuntime, testRuntime } from '../support/runtime.ts'
import { addOutput } from '../support/webhook-rows.ts'
import { createTestWorkspace, makeReady } from '../support/workspace.ts'
import { START_MS } from './scheduler.ts'
import { Sessions } from './sessions.ts'
import type { BucketRules } from './simulated-bucket.ts'

/** What all runs in a process share: a database with a customer, a Pipe and a token. */
export type Site = {
  runtime: Runtime
  sessions: Sessions
  pipeId: string
  token: string
  /** The token of the Sender whose backend requests imports. */
  senderToken: string
  signedIn: SignedIn
  /** Configures the Data Store for a run. */
  configure(how: SiteOptions): Promise<void>
  /** Makes failed imports due, which would otherwise wait for hours. */
  retryImports(nowMs: number): Promise<void>
  /** Removes what earlier runs have left in the tables. */
  clean(): Promise<void>
  close(): Promise<void>
}

export type SiteOptions = {
  webhook: boolean
  /** The customer's backend decides about each file. */
  gated: boolean
  /** The Pipe compares the content of files with their declared types. */
  verifies: boolean
  /** The Pipe computes the SHA-256 of files. */
  hashes: boolean
  /** The Pipe's destinations, in order, each with its own bucket: see `BUCKETS`. */
  destinations: (BucketRules & { provider: string; required: boolean })[]
}

export const BUCKETS: readonly string[] = ['bucket-1', 'bucket-2', 'bucket-3']

/** The database may be empty, or already migrated. */
export async function openSite(url: string): Promise<Site> {
  const database = openPostgres({ address: url })
  await migrate(database.db)
  const runtime = { ...testRuntime(database), clock: { now: () => START_MS, advance() {} } }
  const { workspaceId, actor, pipe, sender } = await createTestWorkspace(runtime)
  const stores = await Promise.all(BUCKETS.map((bucket) => addDataStore(runtime, actor, bucket)))
  const { token } = await issueToken(runtime, sender.token, parseInput(tokenInput, { pipeId: pipe.id }))
  await addOutput(database.db, 'https://receiver.example.com/', { workspaceId, pipeId: pipe.id })
  const hook = {
    url: 'https://receiver.example.com/',
    enabled: true,
    timeoutSeconds: 10,
    withoutAnswer: 'refuse',
  }
  await saveHook(runtime, actor, { pipeId: pipe.id, hook: 'before_complete' }, parseInput(hookInput, hook))
  await database.close()
  const sessions = await Sessions.open(url)
  const change = (text: string, parameters: unknown[]) => sessions.own.run({ text, parameters })
  await change(`update tokens set expires_at = 'infinity'`, [])
  await change('update pipes set source_sftp = true', [])
  return {
    runtime: { ...runtime, log: createLogger('silent') },
    sessions,
    pipeId: pipe.id,
    token,
    senderToken: sender.token,
    signedIn: {
      workspaceId,
      pipeId: pipe.id,
      senderId: sender.id,
      subject: null,
      token,
      ownsToken: false,
      key: null,
    },
    async configure({ destinations, webhook, gated, verifies, hashes }) {
      const store = `update data_stores set provider = $1, may_read = $2, may_abort = $2, may_delete = $2,
        rejecting_since = null, rejection = null, rejected_at = null, recheck_at = null where id = $3`
      for (const [n, { provider, mayRead }] of destinations.entries())
        await change(store, [provider, mayRead, stores[n]!.id])
      const places = destinations.map(({ required }, n) => ({ dataStoreId: stores[n]!.id, required }))
      await change(SET_DESTINATIONS, [pipe.id, JSON.stringify(places)])
      await change('update webhook_outputs set enabled = $1', [webhook])
      await change('update pipe_hooks set enabled = $1', [gated])
      await change('update pipes set verify_content = $1, compute_sha256 = $2', [verifies, hashes])
    },
    async retryImports(nowMs) {
      await change(RETRY_IMPORTS, [new Date(nowMs).toISOString()])
    },
    clean: async () => void (await change('vacuum analyze', [])),
    close: () => sessions.close(),
  }
}

async function addDataStore(runtime: TestRuntime, actor: Actor, bucket: string): Promise<{ id: string }> {
  const place = {
    provider: 'other',
    endpoint: 'https://s3.example.com',
    region: 'us-east-1',
    bucket,
  } as const
  const key = { accessKeyId: 'AKIAEXAMPLE', secretAccessKey: 'secret' }
  const dataStore = await createDataStore(runtime, actor, { name: bucket, ...place, ...key })
  await makeReady(runtime.db, dataStore)
  return dataStore
}

/** Does not wait for a transaction of a simulated node, which in turn waits for its next step. */
const RETRY_IMPORTS = `update imports set due_at = $1 where file_id in (
    select file_id from imports where due_at > $1 and claim is null for update skip locked)`

const SET_DESTINATIONS = `with place as (
    select $1 as pipe_id, ("value"->>'dataStoreId')::uuid as store_id, n as position, ("value"->>'required')::boolean as required
    from jsonb_array_elements($2::jsonb) with ordinality e("value", n)
  ), first as (
    update pipe_destinations d set data_store_id = store_id, required = place.required
    from place where d.pipe_id = place.pipe_id and position = 1
  ), removed as (delete from further_pipe_destinations where pipe_id = $1 and position not in (select position from place))
  insert into further_pipe_destinations (pipe_id, data_store_id, position, required)
  select pipe_id, store_id, position, required from place where position > 1
  on conflict (pipe_id, position) do update set data_store_id = excluded.data_store_id, required = excluded.required`
