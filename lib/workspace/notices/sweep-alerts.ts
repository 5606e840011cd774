import { type SQL, sql } from 'drizzle-orm'
import type { AlertKind } from '#drizzle/schema/index.ts'
import type { EventKind } from '#drizzle/schema/pipes.ts'
import type { EventData } from '../../events/event-schemas.ts'
import { eventBody } from '../../events/file-event.ts'
import { address, type EventOutput, outputsIn } from '../../events/outputs-of.ts'
import { writeEvents } from '../../events/write-events.ts'
import { memberAddresses } from '../../identity/accounts/users.ts'
import { type Db, rows } from '../../platform/db/database.ts'
import { days, hours, minutes } from '../../platform/kernel/clock.ts'
import { uuidv7 } from '../../platform/kernel/ids.ts'
import { enqueueMail } from '../../platform/mail/mail.ts'
import type { MailingRuntime, Runtime } from '../../platform/runtime.ts'
import { storesMissingCopies } from '../data-stores/missing-copies.ts'
import { PIPE_DESTINATIONS } from '../pipes/destinations.ts'
import { isSilent, WITH_GROUP } from '../senders/limits.ts'
import { IS_OF_NO_LINK } from '../senders/read-senders.ts'
import { TRIAL_SENDER } from '../tokens/issue-trial-token.ts'
import { monthOf } from '../usage/count-bytes.ts'
import { limitOf } from '../usage/reserve.ts'
import { type Alert, clearedMail, raisedMail } from './alerts.ts'

type ChangedAlert = Alert & { workspaceId: string; muted: boolean }

/** Long enough that a rejected upload raises no alert if another upload soon succeeds. */
const REJECTING_MS = minutes(1)
const FAILING_MS = hours(1)
/** Shorter, since people are waiting for the decision hook's answer. */
const UNANSWERED_MS = minutes(5)
/** Long enough for the first repair attempts, which copy most of the missing objects. */
const MISSING_MS = hours(1)
const UNUSED_MS = days(90)
const BATCH = 200

/**
 * Raises an alert for each new problem, and clears the alerts whose problem is resolved. The rows in `alerts` record
 * what was sent, and emails are queued in the transaction that writes these rows: each is sent once, no matter which
 * node runs first. The same applies to the events for outputs that subscribe to them.
 */
export async function sweepAlerts(runtime: MailingRuntime): Promise<number> {
  return runtime.db.transaction(async (tx) => {
    const raised = await raise(tx, runtime)
    const cleared = (await clear(tx, runtime)).filter((alert) => !isReplaced(alert, raised))
    for (const alert of together(raised))
      await tell(runtime, tx, alert, raisedMail(alert, runtime.config.baseUrl))
    for (const alert of together(cleared))
      await tell(runtime, tx, alert, clearedMail(alert, runtime.config.baseUrl))
    await sendAlertEvents(tx, runtime)
    return raised.length + cleared.length
  })
}

const NAMED = 10

/** A power cut silences a whole site, so all Senders of a workspace that fall silent at the same time share one email. */
function together(changed: ChangedAlert[]): ChangedAlert[] {
  const silent = changed.filter(({ kind }) => kind === 'sender_silent')
  const ofEach = Object.values(Object.groupBy(silent, ({ workspaceId }) => workspaceId))
  const merged = ofEach.map((alerts = []) => {
    if (alerts.length === 1) return alerts[0]!
    const names = alerts.slice(0, NAMED).map(({ subject }) => subject)
    const more = alerts.length > NAMED ? ` and ${alerts.length - NAMED} more` : ''
    return { ...alerts[0]!, subjectId: '', subject: names.join(', ') + more, detail: null }
  })
  return [...changed.filter(({ kind }) => kind !== 'sender_silent'), ...merged]
}

/** Turning off a failing output clears its alert, but is not reported as a recovery. */
function isReplaced({ kind, subjectId }: ChangedAlert, raised: ChangedAlert[]): boolean {
  return (
    kind === 'output_failing' &&
    raised.some((one) => one.kind === 'output_off' && one.subjectId === subjectId)
  )
}

/** All current problems, as rows of `workspace_id`, `kind`, `subject_id`, `subject`, `detail`. */
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
    ${storesMissingCopies(clock.now() - MISSING_MS)}
    union all
    select workspace_id, 'token_unused', s.id::text, name, null from senders s
    where revoked_at is null and coalesce(last_used_at, created_at) < ${before(UNUSED_MS)} and name <> ${TRIAL_SENDER}
      and ${IS_OF_NO_LINK} and not exists (select from sender_keys k
        where k.sender_id = s.id and k.last_used_at >= ${before(UNUSED_MS)})
    union all
    select s.workspace_id, 'sender_silent', s.id::text, s.name,
      format('There was no sign-in, token request or file for %s hours.', coalesce(s.silent_hours, g.silent_hours))
    from senders s ${WITH_GROUP} where ${isSilent(clock.now())}`
}

const ALERT = sql`workspace_id as "workspaceId", kind, subject_id as "subjectId", subject, detail,
  exists (select from workspaces w where w.id = workspace_id and 'mail:' || kind = any(w.muted_alerts)) as muted`

/** If usage crosses both thresholds between two sweeps, only the 100% alert is sent. */
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

/** A past month's quota gets no all-clear, since nobody is waiting for it. */
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

type EventRuntime = Pick<Runtime, 'clock' | 'config' | 'queue'>
type Due = {
  id: string
  workspaceId: string
  kind: AlertKind
  subjectId: string
  detail: string | null
  raisedAt: string | Date
  sent: 'nothing' | 'raised'
}
/** The event for an alert. There is none if the subject of the alert is gone. */
type Told = {
  kind: EventKind
  pipeId: string | null
  data: EventData<EventKind>
  outputs: EventOutput[]
  /**
   * The outputs for which the event is recorded as missed if they are off. A Pipe's outputs do not miss events that
   * concern more than the Pipe.
   */
  missing: EventOutput[]
}

const SENT_AT_ONCE = 200

/**
 * Sends alerts as events to the outputs that subscribe to them. Each row records what was sent, so alerts that a node
 * running the previous version has raised or cleared are also reported.
 */
export async function sendAlertEvents(tx: Db, needs: EventRuntime): Promise<void> {
  const due = await rows<Due>(
    tx,
    sql`select id, workspace_id as "workspaceId", kind, subject_id as "subjectId", detail, raised_at as "raisedAt", sent
      from alerts where sent = 'nothing' or (sent = 'raised' and cleared_at is not null)
      order by raised_at limit ${SENT_AT_ONCE} for update skip locked`,
  )
  for (const alert of due) {
    const told = await TELL[alert.kind]?.(tx, needs, alert)
    if (told) await write(tx, needs, alert.workspaceId, told)
    const sent = alert.sent === 'nothing' ? 'raised' : 'cleared'
    await tx.execute(sql`update alerts set sent = ${sent} where id = ${alert.id}::uuid`)
  }
}

async function write(tx: Db, { clock, queue }: EventRuntime, workspaceId: string, told: Told): Promise<void> {
  const at = new Date(clock.now())
  const id = uuidv7(at.getTime())
  const { kind, pipeId, data, outputs, missing } = told
  const { to } = address(outputs, kind, kind)
  const missed = address(missing, kind, kind).isMissed ? kind : null
  const body = eventBody(kind, { id, at }, data)
  await writeEvents(tx, queue, [{ id, workspaceId, pipeId: pipeId ?? undefined, kind, body, to, missed }], at)
}

type Tell = (tx: Db, needs: EventRuntime, alert: Due) => Promise<Told | undefined>

const tellOfUsage =
  (percent: 80 | 100): Tell =>
  async (tx, { config }, { workspaceId, subjectId: month, sent }) => {
    if (sent === 'raised') return undefined
    const limit = limitOf(sql`u.workspace_id`, { limitBytes: config.freeTierBytes })
    const [used] = await rows<{ usedBytes: number; limitBytes: number; outputs: EventOutput[] }>(
      tx,
      sql`select u.used_bytes as "usedBytes", ${limit} as "limitBytes", ${ofWorkspace(workspaceId)} as outputs
        from usage_months u where u.workspace_id = ${workspaceId}::uuid and u.month = ${month}`,
    )
    if (!used) return undefined
    const [year, number] = month.split('-').map(Number) as [number, number]
    const data = {
      month,
      percent,
      usedBytes: Number(used.usedBytes),
      limitBytes: Number(used.limitBytes),
      resetsAt: new Date(Date.UTC(year, number)).toISOString(),
    }
    return { kind: 'usage.threshold', pipeId: null, data, outputs: used.outputs, missing: used.outputs }
  }

const tellOfDataStore: Tell = async (tx, _, { workspaceId, subjectId, detail, raisedAt, sent }) => {
  const [store] = await rows<{
    name: string
    bucket: string
    outputs: EventOutput[]
    missing: EventOutput[]
  }>(
    tx,
    sql`select ds.name, ds.bucket, ${ofWorkspace(workspaceId)} as missing, ${outputsIn(sql`
      select p.id from ${PIPE_DESTINATIONS} d join pipes p on p.id = d.pipe_id and p.deleted_at is null
      where d.data_store_id = ds.id union all select ds.workspace_id::text`)} as outputs
    from data_stores ds where ds.id = ${subjectId}::uuid and ds.deleted_at is null`,
  )
  if (!store) return undefined
  const { outputs, missing, ...named } = store
  const common = { data_store_id: subjectId, ...named, failingSince: new Date(raisedAt).toISOString() }
  return sent === 'nothing'
    ? { kind: 'data_store.failing', pipeId: null, data: { ...common, reason: detail }, outputs, missing }
    : { kind: 'data_store.recovered', pipeId: null, data: common, outputs, missing }
}

type OffOutput = {
  id: string
  name: string
  pipeId: string | null
  reason: string
  at: string | Date
  outputs: EventOutput[]
}

const tellOfOutput: Tell = async (tx, _, { workspaceId, subjectId, sent }) => {
  if (sent === 'raised') return undefined
  const [output] = await rows<OffOutput>(
    tx,
    sql`select off.id, off.name, coalesce(off.pipe_id, off.further_pipe_id) as "pipeId", off.turned_off_reason as reason,
      off.turned_off_at as at, ${outputsIn(sql`off.scope, off.workspace_id::text`)} as outputs
    from webhook_outputs off where off.workspace_id = ${workspaceId}::uuid and off.turned_off_at is not null
      and coalesce(off.pipe_id, off.id::text) = ${subjectId}`,
  )
  if (!output) return undefined
  const { id, name, pipeId, reason, at } = output
  const data = { output_id: id, pipe_id: pipeId, name, reason, turnedOffAt: new Date(at).toISOString() }
  // An output that is off does not miss the event about itself.
  const outputs = output.outputs.filter((other) => other.id !== id)
  return { kind: 'output.turned_off', pipeId, data, outputs, missing: outputs }
}

/** Other kinds of alerts have no event: there has been no demand for one. */
const TELL: Partial<Record<AlertKind, Tell>> = {
  quota_80: tellOfUsage(80),
  quota_100: tellOfUsage(100),
  bucket_rejects: tellOfDataStore,
  output_off: tellOfOutput,
}

const ofWorkspace = (workspaceId: string): SQL => outputsIn(sql`${workspaceId}`)
