import type { Sql } from 'postgres'
import { StartError } from '../kernel/errors.ts'
import { within } from '../kernel/waits.ts'

/**
 * A pooler such as PgBouncer may give each transaction another session. Then notifications do not arrive, so they and the
 * queue need DATABASE_DIRECT_URL; and a prepared statement is there only if the pooler prepares it anew where it is missing,
 * as PgBouncer does from 1.21 on with `max_prepared_statements`. What it does is found out once, at the start.
 */
export async function usePooler(
  client: Sql,
  { hasDirect }: { hasDirect: boolean },
): Promise<string | undefined> {
  if (client.options.prepare === false && hasDirect) return undefined
  if (!(await isPooled(client))) return undefined
  if (!hasDirect) {
    if (await hearsNotifications(client)) return undefined
    throw new StartError(
      'DATABASE_URL is a pooler that does not keep sessions, so notifications do not arrive. Set DATABASE_DIRECT_URL to the address of PostgreSQL itself, or let the pooler keep sessions (pool_mode = session).',
    )
  }
  if (await keepsStatements(client)) return 'a pooler that keeps prepared statements'
  client.options.prepare = false
  return 'a pooler that does not keep prepared statements, so none are used; PgBouncer keeps them from 1.21 on with max_prepared_statements'
}

/** Its key for cancelling is then that of no server process. */
async function isPooled(client: Sql): Promise<boolean> {
  const answer = await client.unsafe('select pg_backend_pid() as pid')
  return answer.state.pid !== answer[0]!.pid
}

const HEARD_WITHIN_MS = 1500

async function hearsNotifications(client: Sql): Promise<boolean> {
  const heard = Promise.withResolvers<void>()
  const channel = 'sluice_pooler'
  const { unlisten } = await client.listen(channel, () => heard.resolve())
  await client.notify(channel, '')
  const outcome = await within(HEARD_WITHIN_MS, heard.promise)
  await unlisten()
  return outcome !== 'late'
}

const PREPARED = 'select name from pg_prepared_statements where statement like $1'

/** Those that it keeps bear names of its own. */
async function keepsStatements(client: Sql): Promise<boolean> {
  const found = await client.unsafe(PREPARED, [`${PREPARED.slice(0, 30)}%`], { prepare: true })
  const own = found.statement.name
  return found.length > 0 && found.every(({ name }) => name !== own)
}
