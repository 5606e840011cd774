import { and, desc, eq, isNull, sql } from 'drizzle-orm'
import { alerts, workspaces } from '#drizzle/schema/index.ts'
import type { Actor } from '../../identity/audit/record-audit.ts'
import type { Runtime } from '../../platform/runtime.ts'
import type { Alert } from './alert.ts'

export type ShownAlert = Alert & { id: string; raisedAt: Date; clearedAt: Date | null }

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
