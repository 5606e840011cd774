import { type SQL, sql } from 'drizzle-orm'
import type { EventKind } from '#drizzle/schema/pipes.ts'
import type { EventData } from '../../events/event-schemas.ts'
import { eventBody } from '../../events/file-event.ts'
import { address, type EventOutput, outputsIn } from '../../events/outputs-of.ts'
import { writeEvents } from '../../events/write-events.ts'
import { type Db, rows } from '../../platform/db/database.ts'
import { uuidv7 } from '../../platform/kernel/ids.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { PIPE_DESTINATIONS } from '../pipes/destinations.ts'
import { limitOf } from '../usage/reserve.ts'
import type { AlertKind } from './alert.ts'

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
/** What became of an alert, in the words of its event. None where its subject is gone. */
type Told = {
  kind: EventKind
  pipeId: string | null
  data: EventData<EventKind>
  outputs: EventOutput[]
  /** The outputs that miss it if they are off: those of a Pipe do not miss what concerns more than it. */
  missing: EventOutput[]
}

const BATCH = 200

/**
 * Sends what alerts tell as events, to the outputs that ask for them. It goes by what each row says was sent, so an alert
 * that a node of the previous version has raised or cleared is told of, too.
 */
export async function sendAlertEvents(tx: Db, needs: EventRuntime): Promise<void> {
  const due = await rows<Due>(
    tx,
    sql`select id, workspace_id as "workspaceId", kind, subject_id as "subjectId", detail, raised_at as "raisedAt", sent
      from alerts where sent = 'nothing' or (sent = 'raised' and cleared_at is not null)
      order by raised_at limit ${BATCH} for update skip locked`,
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
  // That it is off itself is no reason to tell it later.
  const outputs = output.outputs.filter((other) => other.id !== id)
  return { kind: 'output.turned_off', pipeId, data, outputs, missing: outputs }
}

/** Nobody has asked for events of the others. */
const TELL: Partial<Record<AlertKind, Tell>> = {
  quota_80: tellOfUsage(80),
  quota_100: tellOfUsage(100),
  bucket_rejects: tellOfDataStore,
  output_off: tellOfOutput,
}

const ofWorkspace = (workspaceId: string): SQL => outputsIn(sql`${workspaceId}`)
