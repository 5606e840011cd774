import { and, desc, eq } from 'drizzle-orm'
import { deliveries, files } from '#drizzle/schema/index.ts'
import type { Actor } from '../../identity/audit/record-audit.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { explainFailure } from '../files/explain-failure.ts'
import { listed } from '../files/listed.ts'

export type Failure = { kind: 'upload' | 'webhook'; id: string; title: string; reason: string; at: Date }

const MOST = 5

const ERRORS: Record<string, string> = {
  dns: 'The name of its host could not be resolved.',
  connect: 'No connection to its host.',
  tls: 'The secure connection failed.',
  timeout: 'It did not answer in time.',
  blocked: 'Its address is not allowed.',
}

/** The latest uploads and webhooks that were given up, newest first. */
export async function listFailures({ db }: Pick<Runtime, 'db'>, { workspaceId }: Actor): Promise<Failure[]> {
  const [uploads, webhooks] = await Promise.all([
    db
      .select()
      .from(files)
      .where(and(eq(files.workspaceId, workspaceId), eq(files.status, 'failed'), listed))
      .orderBy(desc(files.id))
      .limit(MOST),
    db
      .select()
      .from(deliveries)
      .where(and(eq(deliveries.workspaceId, workspaceId), eq(deliveries.state, 'failed')))
      .orderBy(desc(deliveries.id))
      .limit(MOST),
  ])
  const failures: Failure[] = [
    ...uploads.map(({ id, filename, failureReason, finishedAt, createdAt }) => ({
      kind: 'upload' as const,
      id,
      title: filename,
      reason: failureReason ? explainFailure(failureReason) : 'No reason was given.',
      at: finishedAt ?? createdAt,
    })),
    ...webhooks.map(({ id, url, lastStatus, lastError, createdAt }) => ({
      kind: 'webhook' as const,
      id,
      title: new URL(url).host,
      reason: ERRORS[lastError ?? ''] ?? `It answered ${lastStatus ?? 'nothing'}.`,
      at: createdAt,
    })),
  ]
  return failures.sort((a, b) => b.at.getTime() - a.at.getTime()).slice(0, MOST)
}
