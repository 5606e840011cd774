import { migrate } from '#lib/platform/db/migrate.ts'
import { openPostgres } from '#lib/platform/db/open-postgres.ts'
import { parseInput } from '#lib/platform/kernel/parse-input.ts'
import { createLogger } from '#lib/platform/log/log.ts'
import type { Runtime } from '#lib/platform/runtime.ts'
import { issueToken } from '#lib/workspace/tokens/issue-token.ts'
import { tokenInput } from '#lib/workspace/tokens/token.ts'
import { testRuntime } from '../support/runtime.ts'
import { addOutput } from '../support/webhook-rows.ts'
import { createTestWorkspace } from '../support/workspace.ts'
import { START_MS } from './scheduler.ts'
import { Sessions } from './sessions.ts'
import type { BucketRules } from './simulated-bucket.ts'

/** What is the same in all runs of a process: a database with a customer, a Pipe and a token. */
export type Site = {
  runtime: Runtime
  sessions: Sessions
  pipeId: string
  token: string
  /** Makes the Data Store that of a run. */
  configure(how: SiteOptions): Promise<void>
  /** Removes what earlier runs have left behind in the tables. */
  clean(): Promise<void>
  close(): Promise<void>
}

export type SiteOptions = { provider: string; webhook: boolean } & BucketRules

/** The database may be empty, or migrated already. */
export async function openSite(url: string): Promise<Site> {
  const database = openPostgres({ address: url })
  await migrate(database.db)
  const runtime = { ...testRuntime(database), clock: { now: () => START_MS, advance() {} } }
  const { workspaceId, dataStore, pipe, sender } = await createTestWorkspace(runtime)
  const { token } = await issueToken(runtime, sender.token, parseInput(tokenInput, { pipeId: pipe.id }))
  await addOutput(database.db, 'https://receiver.example.com/', { workspaceId, pipeId: pipe.id })
  await database.close()
  const sessions = await Sessions.open(url)
  const change = (text: string, parameters: unknown[]) => sessions.own.run({ text, parameters })
  await change(`update tokens set expires_at = 'infinity'`, [])
  return {
    runtime: { ...runtime, log: createLogger('silent') },
    sessions,
    pipeId: pipe.id,
    token,
    async configure({ provider, webhook, mayRead }) {
      const store = `update data_stores set provider = $1, may_read = $2, may_abort = $2, may_delete = $2,
        rejecting_since = null, rejection = null, rejected_at = null, recheck_at = null where id = $3`
      await change(store, [provider, mayRead, dataStore.id])
      await change('update webhook_outputs set enabled = $1', [webhook])
    },
    clean: async () => void (await change('vacuum analyze', [])),
    close: () => sessions.close(),
  }
}
