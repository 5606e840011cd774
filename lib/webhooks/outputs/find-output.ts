import { and, asc, eq, isNull, or } from 'drizzle-orm'
import { pipes, webhookOutputs } from '#drizzle/schema/index.ts'
import type { Actor } from '../../identity/audit/record-audit.ts'
import type { Db } from '../../platform/db/database.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { isUuid } from '../../platform/kernel/ids.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { findPipe } from '../../workspace/pipes/read-pipes.ts'
import { type OutputRow, pipeOf, toWebhookOutput, type WebhookOutput } from './webhook-output.ts'

/** An output by its id, or a Pipe's first one. */
export type OutputRef = { outputId: string } | { firstOf: string }

const OF_PIPE = or(eq(pipes.id, webhookOutputs.pipeId), eq(pipes.id, webhookOutputs.furtherPipeId))

type FoundOutput = {
  output: OutputRow
  /** The output's name in the audit log. */
  subject: { subjectId: string; subjectLabel: string }
}

/** Outputs of other workspaces, and of deleted Pipes, are reported as not found. */
export async function findOutput(
  db: Db,
  actor: Actor,
  ref: OutputRef,
  lock?: 'update',
): Promise<FoundOutput> {
  if ('firstOf' in ref) await findPipe(db, actor, ref.firstOf)
  const wanted =
    'firstOf' in ref ? eq(webhookOutputs.pipeId, ref.firstOf) : eq(webhookOutputs.id, ref.outputId)
  const query = db
    .select({ output: webhookOutputs, pipeName: pipes.name })
    .from(webhookOutputs)
    .leftJoin(pipes, OF_PIPE)
    .where(and(wanted, eq(webhookOutputs.workspaceId, actor.workspaceId), isNull(pipes.deletedAt)))
  const isPossible = 'firstOf' in ref || isUuid(ref.outputId)
  const [found] = isPossible ? await (lock ? query.for(lock, { of: webhookOutputs }) : query) : []
  if (!found) throw new SluiceError('not_found', ABSENT['firstOf' in ref ? 'first' : 'other'])
  return { output: found.output, subject: subjectOf(found.output, found.pipeName) }
}

const ABSENT = {
  first: 'This Pipe has no webhook output yet. Create one with PUT.',
  other: 'There is no such webhook output.',
}

/** A Pipe's first output is identified by its Pipe, as it was when a Pipe could only have one. */
export function subjectOf(output: OutputRow, pipeName: string | null): FoundOutput['subject'] {
  if (output.pipeId !== null) return { subjectId: output.pipeId, subjectLabel: pipeName! }
  const label = pipeName === null ? output.name : `${pipeName}: ${output.name}`
  return { subjectId: output.id, subjectLabel: label }
}

export async function showOutput(
  { db }: Pick<Runtime, 'db'>,
  actor: Actor,
  ref: OutputRef,
): Promise<WebhookOutput> {
  return toWebhookOutput((await findOutput(db, actor, ref)).output)
}

/** Whose events an output gets: a Pipe's or, without one, the entire workspace's. */
export type OutputScope = { pipeId?: string | undefined }

export const scopeOf = (actor: Actor, { pipeId }: OutputScope): string => pipeId ?? actor.workspaceId

/** Sorted from the oldest, so a Pipe's first output comes first. */
export async function listOutputs(
  { db }: Pick<Runtime, 'db'>,
  actor: Actor,
  scope: OutputScope,
): Promise<WebhookOutput[]> {
  if (scope.pipeId !== undefined) await findPipe(db, actor, scope.pipeId)
  const found = await db
    .select()
    .from(webhookOutputs)
    .where(eq(webhookOutputs.scope, scopeOf(actor, scope)))
    .orderBy(asc(webhookOutputs.id))
  return found.map(toWebhookOutput)
}

export type NamedOutput = { id: string; name: string; pipeId: string | null; pipeName: string | null }

export const fullName = ({ name, pipeName }: NamedOutput): string => `${pipeName ?? 'All Pipes'}: ${name}`

const MOST_NAMED = 200

/** All outputs in a workspace, for people to choose from. Those of the workspace itself come first. */
export async function nameOutputs({ db }: Pick<Runtime, 'db'>, actor: Actor): Promise<NamedOutput[]> {
  const found = await db
    .select({ output: webhookOutputs, pipeName: pipes.name })
    .from(webhookOutputs)
    .leftJoin(pipes, OF_PIPE)
    .where(and(eq(webhookOutputs.workspaceId, actor.workspaceId), isNull(pipes.deletedAt)))
    .orderBy(asc(pipes.createdAt), asc(webhookOutputs.id))
    .limit(MOST_NAMED)
  return found
    .map(({ output, pipeName }) => ({ id: output.id, name: output.name, pipeId: pipeOf(output), pipeName }))
    .sort((a, b) => Number(a.pipeId !== null) - Number(b.pipeId !== null))
}
