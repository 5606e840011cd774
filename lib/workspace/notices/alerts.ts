import { and, desc, eq, isNull, sql } from 'drizzle-orm'
import { z } from 'zod'
import { alerts, workspaces } from '#drizzle/schema/index.ts'
import { type Actor, recordAudit } from '../../identity/audit/record-audit.ts'
import type { CoreRuntime, Runtime } from '../../platform/runtime.ts'
import { ALERT_KINDS, type Alert, type AlertKind } from './alert.ts'

type ShownAlert = Alert & { id: string; raisedAt: Date; clearedAt: Date | null }

const MOST = 20

/** The latest, those that are over included. */
export function listAlerts({ db }: Pick<Runtime, 'db'>, { workspaceId }: Actor): Promise<ShownAlert[]> {
  const { id, kind, subjectId, subject, detail, raisedAt, clearedAt } = alerts
  return db
    .select({ id, kind, subjectId, subject, detail, raisedAt, clearedAt })
    .from(alerts)
    .where(eq(alerts.workspaceId, workspaceId))
    .orderBy(desc(raisedAt))
    .limit(MOST)
}

/** Those that are not over, and are wanted as notices. */
export async function listOpenAlerts(
  { db }: Pick<Runtime, 'db'>,
  { workspaceId }: Actor,
): Promise<ShownAlert[]> {
  const found = await db
    .select({ alert: alerts })
    .from(alerts)
    .innerJoin(workspaces, eq(workspaces.id, alerts.workspaceId))
    .where(
      and(
        eq(alerts.workspaceId, workspaceId),
        isNull(alerts.clearedAt),
        sql`'notice:' || ${alerts.kind} <> all(${workspaces.mutedAlerts})`,
      ),
    )
    .orderBy(desc(alerts.raisedAt))
    .limit(MOST)
  return found.map(({ alert }) => alert)
}

const ALERT_WAYS = ['mail', 'notice'] as const
type AlertWay = (typeof ALERT_WAYS)[number]

/** Whether an alert of this kind is wanted in this way. */
type AlertSettings = Record<AlertKind, Record<AlertWay, boolean>>

const ofEachKind = <Schema extends z.ZodType>(schema: Schema) =>
  Object.fromEntries(ALERT_KINDS.map((kind) => [kind, schema])) as Record<AlertKind, Schema>

export const alertSettingsAnswer = z.object(ofEachKind(z.object({ mail: z.boolean(), notice: z.boolean() })))
export const alertSettingsChanges = z.strictObject(
  ofEachKind(z.strictObject({ mail: z.boolean().optional(), notice: z.boolean().optional() }).optional()),
)

export async function readAlertSettings(
  { db }: Pick<Runtime, 'db'>,
  { workspaceId }: Actor,
): Promise<AlertSettings> {
  const [row] = await db
    .select({ muted: workspaces.mutedAlerts })
    .from(workspaces)
    .where(eq(workspaces.id, workspaceId))
  const wants = (kind: AlertKind) => (way: AlertWay) => [way, !row!.muted.includes(`${way}:${kind}`)]
  return Object.fromEntries(
    ALERT_KINDS.map((kind) => [kind, Object.fromEntries(ALERT_WAYS.map(wants(kind)))]),
  ) as AlertSettings
}

/** `wanted` names what is wanted, as `mail:quota_80`; all else is not. */
export async function saveAlertSettings(
  { db, clock }: CoreRuntime,
  actor: Actor,
  wanted: string[],
): Promise<void> {
  const all = ALERT_KINDS.flatMap((kind) => ALERT_WAYS.map((way) => `${way}:${kind}`))
  const mutedAlerts = all.filter((name) => !wanted.includes(name))
  await db.transaction(async (tx) => {
    await tx.update(workspaces).set({ mutedAlerts }).where(eq(workspaces.id, actor.workspaceId))
    await recordAudit({ db: tx, clock }, actor, { action: 'alerts.changed', detail: { muted: mutedAlerts } })
  })
}

/** What is left out stays as it is. */
export async function changeAlertSettings(
  runtime: CoreRuntime,
  actor: Actor,
  changes: z.infer<typeof alertSettingsChanges>,
): Promise<AlertSettings> {
  const settings = await readAlertSettings(runtime, actor)
  const wanted = ALERT_KINDS.flatMap((kind) =>
    ALERT_WAYS.filter((way) => changes[kind]?.[way] ?? settings[kind][way]).map((way) => `${way}:${kind}`),
  )
  await saveAlertSettings(runtime, actor, wanted)
  return readAlertSettings(runtime, actor)
}
