import { type SQL, sql } from 'drizzle-orm'
import { memberAddresses } from '../../identity/accounts/users.ts'
import { type Db, rows } from '../../platform/db/database.ts'
import { days, hours, minutes } from '../../platform/kernel/clock.ts'
import { enqueueMail } from '../../platform/mail/mail.ts'
import type { MailingRuntime } from '../../platform/runtime.ts'
import { TRIAL_SENDER } from '../tokens/issue-trial-token.ts'
import { monthOf } from '../usage/count-bytes.ts'
import { limitOf } from '../usage/reserve.ts'
import { type Alert, clearedMail, raisedMail } from './alert.ts'
import { sendAlertEvents } from './send-alert-events.ts'

type ChangedAlert = Alert & { workspaceId: string; muted: boolean }

/** One rejected upload that the next one makes up for is no alert. */
const REJECTING_MS = minutes(1)
const FAILING_MS = hours(1)
/** People wait for its answer. */
const UNANSWERED_MS = minutes(5)
const UNUSED_MS = days(90)
const BATCH = 200

/**
 * Raises an alert for each thing that is so and was not, and clears those that are over. The rows of `alerts` are what was
 * told, and mails go into the queue in the transaction that writes them: each is sent once, whichever node looks first; so are the events
 * for those outputs that ask for them.
 */
export async function sweepAlerts(runtime: MailingRuntime): Promise<number> {
  return runtime.db.transaction(async (tx) => {
    const raised = await raise(tx, runtime)
    const cleared = (await clear(tx, runtime)).filter((alert) => !isReplaced(alert, raised))
    for (const alert of raised) await tell(runtime, tx, alert, raisedMail(alert, runtime.config.baseUrl))
    for (const alert of cleared) await tell(runtime, tx, alert, clearedMail(alert, runtime.config.baseUrl))
    await sendAlertEvents(tx, runtime)
    return raised.length + cleared.length
  })
}

/** An output that is turned off no longer fails, which is no good news. */
function isReplaced({ kind, subjectId }: ChangedAlert, raised: ChangedAlert[]): boolean {
  return (
    kind === 'output_failing' &&
    raised.some((one) => one.kind === 'output_off' && one.subjectId === subjectId)
  )
}

/** Everything that is so now, as rows of `workspace_id`, `kind`, `subject_id`, `subject`, `detail`. */
function conditions({ clock, config }: MailingRuntime): SQL {
  const before = (ms: number) => sql`${new Date(clock.now() - ms).toISOString()}::timestamptz`
  const month = monthOf(clock.now())
  const limit = limitOf(sql`usage_months.workspace_id`, { limitBytes: config.freeTierBytes })
  const quota = (kind: string, share: number) => sql`
    select workspace_id, ${kind}, month, month, null from usage_months
    where month = ${month} and ${config.freeTierBytes}::bigint > 0
      and ${limit} > 0 and used_bytes >= ${limit} * ${share}::float8`
  return sql`
    ${quota('quota_80', 0.8)} union all ${quota('quota_100', 1)}
    union all
    select workspace_id, 'bucket_rejects', id::text, name, rejection from data_stores
    where rejecting_since < ${before(REJECTING_MS)} and deleted_at is null
    union all
    select o.workspace_id, case when o.enabled then 'output_failing' else 'output_off' end, coalesce(o.pipe_id, o.id::text),
      case when o.pipe_id is null then concat_ws(': ', p.name, o.name) else p.name end, o.turned_off_reason
    from webhook_outputs o left join pipes p on p.id in (o.pipe_id, o.further_pipe_id)
    where p.deleted_at is null and case when o.enabled then o.failing_since < ${before(FAILING_MS)} else o.turned_off_at is not null end
    union all
    select h.workspace_id, 'hook_failing', h.pipe_id, min(p.name), string_agg(h.hook || ': ' || h.fault, ' ' order by h.hook desc)
    from pipe_hooks h join pipes p on p.id = h.pipe_id
    where h.enabled and h.failing_since < ${before(UNANSWERED_MS)} and p.deleted_at is null group by h.workspace_id, h.pipe_id
    union all
    select workspace_id, 'token_unused', id::text, name, null from senders
    where revoked_at is null and coalesce(last_used_at, created_at) < ${before(UNUSED_MS)} and name <> ${TRIAL_SENDER}`
}

const ALERT = sql`workspace_id as "workspaceId", kind, subject_id as "subjectId", subject, detail,
  exists (select from workspaces w where w.id = workspace_id and 'mail:' || kind = any(w.muted_alerts)) as muted`

/** What jumps past 80 % and 100 % at once is told of as the latter. */
async function raise(tx: Db, needs: MailingRuntime): Promise<ChangedAlert[]> {
  const now = sql`${new Date(needs.clock.now()).toISOString()}::timestamptz`
  const raised = await rows<ChangedAlert>(
    tx,
    sql`with now_so (workspace_id, kind, subject_id, subject, detail) as (${conditions(needs)})
      insert into alerts (id, workspace_id, kind, subject_id, subject, detail, raised_at)
      select gen_random_uuid(), n.workspace_id, n.kind, n.subject_id, n.subject, n.detail, ${now} from now_so n
      where not exists (select from alerts a where a.workspace_id = n.workspace_id and a.kind = n.kind
        and a.subject_id = n.subject_id and a.cleared_at is null)
      limit ${BATCH}::int
      on conflict do nothing returning ${ALERT}`,
  )
  const full = new Set(
    raised.filter(({ kind }) => kind === 'quota_100').map(({ workspaceId }) => workspaceId),
  )
  return raised.filter(({ kind, workspaceId }) => kind !== 'quota_80' || !full.has(workspaceId))
}

/** The quota of a month that is over needs no all-clear: nobody waits for it. */
async function clear(tx: Db, needs: MailingRuntime): Promise<ChangedAlert[]> {
  const now = sql`${new Date(needs.clock.now()).toISOString()}::timestamptz`
  const cleared = await rows<ChangedAlert>(
    tx,
    sql`with now_so (workspace_id, kind, subject_id, subject, detail) as (${conditions(needs)}), over as (
        select id from alerts a where cleared_at is null and not exists (select from now_so n
          where n.workspace_id = a.workspace_id and n.kind = a.kind and n.subject_id = a.subject_id)
        limit ${BATCH}::int for update skip locked
      )
      update alerts set cleared_at = ${now} where id in (select id from over) returning ${ALERT}`,
  )
  const month = monthOf(needs.clock.now())
  return cleared.filter(({ kind, subjectId }) => !kind.startsWith('quota_') || subjectId === month)
}

async function tell(
  runtime: MailingRuntime,
  tx: Db,
  { workspaceId, muted }: ChangedAlert,
  text: ReturnType<typeof raisedMail>,
) {
  if (muted) return
  for (const to of await memberAddresses(tx, workspaceId)) {
    await enqueueMail(runtime, tx, { kind: 'mail', mail: { to, ...text } })
  }
}
