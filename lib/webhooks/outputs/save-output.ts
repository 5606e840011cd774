import { eq } from 'drizzle-orm'
import { webhookOutputs, workspaces } from '#drizzle/schema/index.ts'
import { type Actor, recordAudit } from '../../identity/audit/record-audit.ts'
import type { Db } from '../../platform/db/database.ts'
import { invalidRequest, isSluiceError, SluiceError } from '../../platform/kernel/errors.ts'
import { newWebhookSecret, uuidv7 } from '../../platform/kernel/ids.ts'
import { assertAllowedUrl } from '../../platform/net/judge-connection.ts'
import type { Runtime } from '../../platform/runtime.ts'
import type { Config } from '../../platform/settings/config.ts'
import { sealsForColumns } from '../../platform/vault.ts'
import { findPipe } from '../../workspace/pipes/read-pipes.ts'
import { findOutput, type OutputRef, type OutputScope, scopeOf, subjectOf } from './find-output.ts'
import { secretPlace } from './signing-secrets.ts'
import { headersPlace, type StaticHeaders } from './static-headers.ts'
import {
  MAX_OUTPUTS,
  type OutputChanges,
  type OutputInput,
  type OutputRow,
  outputInput,
  pipeOf,
  toWebhookOutput,
  type WebhookOutput,
  type WebhookOutputInput,
} from './webhook-output.ts'

type OutputRuntime = Pick<Runtime, 'db' | 'clock' | 'config' | 'vault'>
type Seal = Awaited<ReturnType<typeof sealsForColumns>>

/** Creates an output for a Pipe or the workspace, and returns its secret. */
export async function createOutput(
  needs: OutputRuntime,
  actor: Actor,
  scope: OutputScope,
  input: OutputInput,
): Promise<WebhookOutput & { secret: string }> {
  assertUrl(input.url, needs.config)
  return needs.db.transaction(async (tx) => {
    const pipeName = await lockScope(tx, actor, scope)
    return create(tx, needs, actor, { scope, pipeName, input })
  })
}

/** Creates a Pipe's first output and returns its secret, or changes the existing one. */
export async function saveOutput(
  needs: OutputRuntime,
  actor: Actor,
  pipeId: string,
  input: WebhookOutputInput,
): Promise<WebhookOutput & { secret?: string }> {
  assertUrl(input.url, needs.config)
  return needs.db.transaction(async (tx) => {
    // Without the lock, two concurrent calls could both create the first output.
    const pipeName = await lockScope(tx, actor, { pipeId })
    const [first] = await tx.select().from(webhookOutputs).where(eq(webhookOutputs.pipeId, pipeId))
    if (first) return change(tx, needs, actor, { firstOf: pipeId }, input)
    return create(tx, needs, actor, { scope: { pipeId }, pipeName, input: outputInput.parse(input) })
  })
}

export async function changeOutput(
  needs: OutputRuntime,
  actor: Actor,
  ref: OutputRef,
  changes: OutputChanges,
): Promise<WebhookOutput> {
  if (changes.url !== undefined) assertUrl(changes.url, needs.config)
  return needs.db.transaction((tx) => change(tx, needs, actor, ref, changes))
}

/** A lock that keeps two requests from both creating the last permitted output. Uploads do not wait for it. */
async function lockScope(tx: Db, actor: Actor, { pipeId }: OutputScope): Promise<string | null> {
  if (pipeId !== undefined) return (await findPipe(tx, actor, pipeId, 'update')).pipe.name
  await tx.select({}).from(workspaces).where(eq(workspaces.id, actor.workspaceId)).for('no key update')
  return null
}

type Creation = { scope: OutputScope; pipeName: string | null; input: OutputInput }

async function create(
  tx: Db,
  { clock, vault }: OutputRuntime,
  actor: Actor,
  { scope, pipeName, input }: Creation,
): Promise<WebhookOutput & { secret: string }> {
  assertKinds(input.events, scope.pipeId)
  const now = new Date(clock.now())
  const seal = await sealsForColumns(tx, vault)
  const others = await tx
    .select({ first: webhookOutputs.pipeId })
    .from(webhookOutputs)
    .where(eq(webhookOutputs.scope, scopeOf(actor, scope)))
  if (others.length >= MAX_OUTPUTS)
    throw new SluiceError('conflict', `There are already ${MAX_OUTPUTS} webhook outputs, which is the limit.`)
  const isFirst = scope.pipeId !== undefined && others.length === 0
  const [id, secret] = [uuidv7(now.getTime()), newWebhookSecret()]
  const { headers, ...given } = input
  const [created] = await tx
    .insert(webhookOutputs)
    .values({
      ...given,
      ...sealed(seal, id, headers),
      id,
      workspaceId: actor.workspaceId,
      pipeId: isFirst ? scope.pipeId : null,
      furtherPipeId: isFirst ? null : scope.pipeId,
      secretEncrypted: seal(secret, secretPlace(id)),
      // Only a Pipe's first output can receive events from before it was created.
      missedAfter: isFirst ? null : now,
      createdAt: now,
      updatedAt: now,
    })
    .returning()
  await audit(tx, clock, actor, 'webhook.created', created!, pipeName)
  return { ...toWebhookOutput(created!), secret }
}

async function change(
  tx: Db,
  { clock, vault }: OutputRuntime,
  actor: Actor,
  ref: OutputRef,
  { headers, ...changes }: OutputChanges,
): Promise<WebhookOutput> {
  // This acquires a lock, which must happen before the row is locked: rotate-keys locks in the same order.
  const seal = await sealsForColumns(tx, vault)
  const { output: before, subject } = await findOutput(tx, actor, ref, 'update')
  if (changes.events) assertKinds(changes.events, pipeOf(before))
  // Changing the address or turning the output on clears the record of its failures.
  const again =
    (changes.url !== undefined && changes.url !== before.url) || (changes.enabled && !before.enabled)
  const [changed] = await tx
    .update(webhookOutputs)
    .set({
      ...changes,
      ...(headers && sealed(seal, before.id, headers)),
      updatedAt: new Date(clock.now()),
      ...(again && { failingSince: null, turnedOffReason: null, turnedOffAt: null }),
    })
    .where(eq(webhookOutputs.id, before.id))
    .returning()
  const { url, enabled } = changed!
  await recordAudit({ db: tx, clock }, actor, {
    action: 'webhook.changed',
    ...subject,
    detail: { url, enabled },
  })
  return toWebhookOutput(changed!)
}

function sealed(seal: Seal, id: string, headers: StaticHeaders) {
  const headerNames = Object.keys(headers)
  const headersEncrypted = headerNames.length > 0 ? seal(JSON.stringify(headers), headersPlace(id)) : null
  return { headerNames, headersEncrypted }
}

function audit(
  tx: Db,
  clock: Runtime['clock'],
  actor: Actor,
  action: string,
  output: OutputRow,
  pipeName: string | null,
): Promise<void> {
  const detail = { url: output.url, enabled: output.enabled }
  return recordAudit({ db: tx, clock }, actor, { action, ...subjectOf(output, pipeName), detail })
}

/** A single Pipe's receiver must not see the workspace's usage. */
function assertKinds(kinds: OutputInput['events'], pipeId: string | null | undefined): void {
  if (pipeId && kinds.includes('usage.threshold'))
    throw invalidRequest([
      { field: 'events', message: 'usage.threshold is only for workspace outputs, not for a Pipe' },
    ])
}

/** Throws unless requests may be sent to this address. */
export function assertUrl(url: string, config: Runtime['config']): void {
  try {
    assertAllowedUrl(url, webhookHosts(config))
  } catch (error) {
    if (!isSluiceError(error)) throw error
    throw invalidRequest([{ field: 'url', message: `is not allowed: ${error.message}` }])
  }
}

/** Private hosts that webhooks may be sent to: those allowed by the operator, and Sluice itself, for the inbox. */
export function webhookHosts({
  allowedPrivateHosts,
  baseUrl,
}: Pick<Config, 'allowedPrivateHosts' | 'baseUrl'>): string[] {
  const { hostname, port, protocol } = new URL(baseUrl)
  return [...allowedPrivateHosts, `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`]
}
