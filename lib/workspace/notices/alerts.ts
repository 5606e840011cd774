import { and, desc, eq, isNull, sql } from 'drizzle-orm'
import { z } from 'zod'
import { ALERT_KINDS, type AlertKind } from '#drizzle/schema/alerts.ts'
import { alerts, workspaces } from '#drizzle/schema/index.ts'
import { type Actor, recordAudit } from '../../identity/audit/record-audit.ts'
import { isPipeId } from '../../platform/kernel/ids.ts'
import type { Mail } from '../../platform/mail/mail.ts'
import type { CoreRuntime, Runtime } from '../../platform/runtime.ts'
import { formatMonth } from '../usage/format-month.ts'

/** Exported here because pages only access the schema through lib. */
export { ALERT_KINDS }

export type Alert = { kind: AlertKind; subjectId: string; subject: string; detail: string | null }

type Words = {
  /** Shown in the alert settings. */
  name: string
  raised: (alert: Alert) => string
  advice: string
  cleared: (alert: Alert) => string
  path: (alert: Alert) => string
}

/** What each alert says when it starts and when it is resolved. */
export const ALERT_WORDS: Record<AlertKind, Words> = {
  quota_80: {
    name: '80% of the monthly transfer quota is used',
    raised: ({ subject }) => `80% of the transfer quota for ${formatMonth(subject)} is used`,
    advice: 'When it is used up, new uploads are refused until the end of the month (UTC).',
    cleared: ({ subject }) => `The transfer quota for ${formatMonth(subject)} is no longer 80% used`,
    path: () => '/dashboard/usage',
  },
  quota_100: {
    name: 'The monthly transfer quota is used up',
    raised: ({ subject }) => `100% of the transfer quota for ${formatMonth(subject)} is used`,
    advice: 'New uploads are refused until the end of the month (UTC); those in progress may finish.',
    cleared: ({ subject }) => `The transfer quota for ${formatMonth(subject)} is no longer used up`,
    path: () => '/dashboard/usage',
  },
  bucket_rejects: {
    name: 'A Data Store is rejecting uploads',
    raised: ({ subject }) => `The Data Store “${subject}” is rejecting uploads`,
    advice: 'Uploads wait and keep the bytes received. Fix the bucket or its keys, then run the check.',
    cleared: ({ subject }) => `The Data Store “${subject}” accepts uploads again`,
    path: ({ subjectId }) => `/dashboard/data-stores/${subjectId}`,
  },
  output_off: {
    name: 'Sluice turned off a webhook output',
    raised: ({ subject }) => `The webhook for “${subject}” is off`,
    advice:
      'Uploads continue but are not reported; their events are kept for 30 days. Fix the receiver, turn the output on again, then resend the failed events and send the missed ones.',
    cleared: ({ subject }) => `The webhook for “${subject}” is on again`,
    path: ({ subjectId }) =>
      isPipeId(subjectId)
        ? `/dashboard/pipes/${subjectId}/webhooks`
        : `/dashboard/webhooks/outputs/${subjectId}`,
  },
  output_failing: {
    name: 'A webhook output has been failing for an hour',
    raised: ({ subject }) => `The webhook for “${subject}” has been failing for an hour`,
    advice: "Events are retried for three days. The log shows the receiver's responses.",
    cleared: ({ subject }) => `The webhook for “${subject}” is working again`,
    path: ({ subjectId }) =>
      `/dashboard/webhooks?${isPipeId(subjectId) ? 'pipeId' : 'outputId'}=${subjectId}`,
  },
  hook_failing: {
    name: 'A decision hook has not responded for five minutes',
    raised: ({ subject }) => `A decision hook for “${subject}” has not responded for five minutes`,
    advice:
      'Uploads are refused, or allowed without a decision, depending on its settings. Fix the receiver, then send a test.',
    cleared: ({ subject }) => `The decision hooks for “${subject}” are responding again`,
    path: ({ subjectId }) => `/dashboard/pipes/${subjectId}/decisions`,
  },
  copies_missing: {
    name: 'Copies missing at a destination for an hour',
    raised: ({ subject }) => `Copies are missing from the Data Store “${subject}”`,
    advice:
      'All required destinations have their files. Fix the bucket or its keys: each copy is retried for three and a half days, or immediately with “Repair now” on the file page.',
    cleared: ({ subject }) => `The Data Store “${subject}” is no longer missing copies`,
    path: ({ subjectId }) => `/dashboard/files?missingAt=${subjectId}`,
  },
  token_unused: {
    name: 'A Sender token has not been used for 90 days',
    raised: ({ subject }) => `The token of the Sender “${subject}” has not been used for 90 days`,
    advice: 'Revoke it if no backend needs it anymore: an unused token is only a risk.',
    cleared: ({ subject }) => `The Sender “${subject}” is in use again, or no longer exists`,
    path: ({ subjectId }) => `/dashboard/senders/${subjectId}`,
  },
  sender_silent: {
    name: 'A device has been silent for longer than you allow',
    raised: ({ subject }) => `Silent for too long: ${subject}`,
    advice: 'Check its power, its network and its settings. The list of Senders shows the silent ones first.',
    cleared: ({ subject }) => `No longer silent: ${subject}`,
    path: ({ subjectId }) => (subjectId ? `/dashboard/senders/${subjectId}` : '/dashboard/senders'),
  },
}

const SIGNATURE = '--\nSluice\n'

export function raisedMail(alert: Alert, baseUrl: string): Omit<Mail, 'to'> {
  const { raised, advice, path } = ALERT_WORDS[alert.kind]
  const settings = `Choose which alerts you receive: ${baseUrl}/dashboard/settings/alerts`
  const text = [`${raised(alert)}.`, alert.detail, advice, baseUrl + path(alert), settings, SIGNATURE]
  return { subject: raised(alert), text: text.filter(Boolean).join('\n\n') }
}

export function clearedMail(alert: Alert, baseUrl: string): Omit<Mail, 'to'> {
  const { cleared, path } = ALERT_WORDS[alert.kind]
  return {
    subject: `All clear: ${cleared(alert)}`,
    text: [`${cleared(alert)}.`, baseUrl + path(alert), SIGNATURE].join('\n\n'),
  }
}

type ShownAlert = Alert & { id: string; raisedAt: Date; clearedAt: Date | null }

const MOST = 20
/** A power cut silences a whole site, which must not hide other alerts. */
const MOST_SILENT = 3

/** The latest alerts, including resolved ones. */
export function listAlerts({ db }: Pick<Runtime, 'db'>, { workspaceId }: Actor): Promise<ShownAlert[]> {
  const { id, kind, subjectId, subject, detail, raisedAt, clearedAt } = alerts
  return db
    .select({ id, kind, subjectId, subject, detail, raisedAt, clearedAt })
    .from(alerts)
    .where(eq(alerts.workspaceId, workspaceId))
    .orderBy(desc(raisedAt))
    .limit(MOST)
}

/** Open alerts, except those of kinds whose notices are switched off. */
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
        sql`(${alerts.kind} <> 'sender_silent' or ${alerts.id} in (select id from alerts silent
          where workspace_id = ${workspaceId} and kind = 'sender_silent' and cleared_at is null
          order by raised_at desc limit ${MOST_SILENT}))`,
      ),
    )
    .orderBy(desc(alerts.raisedAt))
    .limit(MOST)
  return found.map(({ alert }) => alert)
}

const ALERT_WAYS = ['mail', 'notice'] as const
type AlertWay = (typeof ALERT_WAYS)[number]

/** Whether alerts of each kind are sent through each channel. */
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

/** `wanted` lists the alerts to send, such as `mail:quota_80`; all others are muted. */
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

/** The settings of omitted alerts stay unchanged. */
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
