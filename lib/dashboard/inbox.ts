import { and, type Column, desc, eq, lt, or, type SQL, sql } from 'drizzle-orm'
import { inboxMessages, webhookOutputs, workspaces } from '#drizzle/schema/index.ts'
import type { Actor } from '../identity/audit/record-audit.ts'
import type { Db } from '../platform/db/database.ts'
import { GATHER_WRITES_MS, inGroups } from '../platform/db/in-groups.ts'
import { toProblem } from '../platform/http/problem.ts'
import { readBytes } from '../platform/http/read-request.ts'
import { SluiceError } from '../platform/kernel/errors.ts'
import { isPipeId, uuidv7 } from '../platform/kernel/ids.ts'
import type { Runtime } from '../platform/runtime.ts'
import type { Config } from '../platform/settings/config.ts'
import { openSecrets } from '../webhooks/outputs/signing-secrets.ts'
import { verifyWebhook } from '../webhooks/signature/signature.ts'

const KEPT = 100
/** Other headers are irrelevant to the webhook, and a proxy may have added some. */
const HEADERS = [
  'content-type',
  'user-agent',
  'x-service-signature',
  'webhook-id',
  'webhook-timestamp',
  'webhook-signature',
]

const isInboxKey = (text: string) => /^[\w-]{32}$/.test(text)

type Received = { headers: Headers; body: string }

async function receiveMessage(
  { db, clock, vault }: Pick<Runtime, 'db' | 'clock' | 'vault'>,
  inboxKey: string,
  { headers: all, body }: Received,
): Promise<void> {
  const [workspace] = isInboxKey(inboxKey)
    ? await db.select({ id: workspaces.id }).from(workspaces).where(eq(workspaces.inboxKey, inboxKey))
    : []
  if (!workspace) throw new SluiceError('not_found', 'There is no inbox at this address.')
  const headers = Object.fromEntries(
    HEADERS.flatMap((name) => (all.has(name) ? [[name, all.get(name)!]] : [])),
  )
  const now = clock.now()
  const outputs = await possibleSenders(db, { workspaceId: workspace.id, inboxKey }, body)
  const secrets = outputs.flatMap((output) => openSecrets(vault, output, now))
  const verdict = verifyWebhook({ headers, body }, secrets, now)
  for (const [which, finding] of Object.entries(verdict)) {
    if (finding !== 'valid')
      throw new SluiceError('forbidden', `The ${which} signature is not valid: ${finding}.`)
  }
  await storeOf(db)({
    id: uuidv7(now),
    workspaceId: workspace.id,
    webhookId: headers['webhook-id'],
    headers,
    body,
    createdAt: new Date(now),
  })
}

type Message = typeof inboxMessages.$inferInsert

const stores = new WeakMap<Db, (message: Message) => Promise<void>>()

/**
 * Under load, a workspace's messages are stored in groups: alone, each would delete the oldest one, and wait for the
 * others that delete it as well.
 */
function storeOf(db: Db): (message: Message) => Promise<void> {
  const store =
    stores.get(db) ??
    inGroups((messages: Message[]) => storeAll(db, messages), {
      most: KEPT,
      keyOf: ({ workspaceId }) => workspaceId,
      gatherMs: GATHER_WRITES_MS,
    })
  stores.set(db, store)
  return store
}

async function storeAll(db: Db, messages: Message[]): Promise<undefined[]> {
  await db.transaction(async (tx) => {
    await tx.insert(inboxMessages).values(messages)
    await dropOldest(tx, messages[0]!.workspaceId)
  })
  return messages.map(() => undefined)
}

/**
 * The outputs that may have sent this body: those of the workspace, and those of the Pipe that it names. Some events,
 * such as `data_store.failing`, name no Pipe, so any output with this inbox's address may have sent them. The signature
 * proves which one did.
 */
async function possibleSenders(
  db: Db,
  { workspaceId, inboxKey }: { workspaceId: string; inboxKey: string },
  body: string,
) {
  const pipeId = pipeIdIn(body)
  const sender = pipeId ? eq(webhookOutputs.scope, pipeId) : endsWith(webhookOutputs.url, inboxPath(inboxKey))
  const outputs = await db
    .select()
    .from(webhookOutputs)
    .where(
      and(eq(webhookOutputs.workspaceId, workspaceId), or(sender, eq(webhookOutputs.scope, workspaceId))),
    )
  if (outputs.length > 0) return outputs
  throw new SluiceError('forbidden', "This inbox only accepts webhooks from its own workspace's outputs.")
}

const endsWith = (column: Column, text: string): SQL => sql`right(${column}, ${text.length}) = ${text}`

function pipeIdIn(body: string): string | undefined {
  try {
    const pipeId = (JSON.parse(body) as { data?: { pipe_id?: unknown } }).data?.pipe_id
    return typeof pipeId === 'string' && isPipeId(pipeId) ? pipeId : undefined
  } catch {
    throw new SluiceError('invalid_json', 'The body is not JSON.')
  }
}

async function dropOldest(tx: Db, workspaceId: string): Promise<void> {
  const mine = eq(inboxMessages.workspaceId, workspaceId)
  const oldestKept = tx
    .select({ id: inboxMessages.id })
    .from(inboxMessages)
    .where(mine)
    .orderBy(desc(inboxMessages.id))
    .limit(1)
    .offset(KEPT - 1)
  await tx.delete(inboxMessages).where(and(mine, lt(inboxMessages.id, sql`${oldestKept}`)))
}

/**
 * The inbox is a webhook receiver inside Sluice, for users whose own receiver is not running yet, and for the demo. It
 * behaves as receivers should: it only accepts webhooks signed by the workspace's own outputs.
 */
export async function handleInboxRequest(
  runtime: Runtime,
  request: Request,
  inboxKey: string,
): Promise<Response> {
  try {
    const bytes = await readBytes(request)
    await receiveMessage(runtime, inboxKey, { headers: request.headers, body: bytes.toString('utf8') })
    return new Response(null, { status: 204, headers: { 'Cache-Control': 'no-store' } })
  } catch (error) {
    const { status, headers, body } = toProblem(error, runtime.config.baseUrl)
    if (status >= 500) runtime.log.error({ err: error }, 'the inbox failed')
    return new Response(body, { status, headers })
  }
}

type Inbox = { url: string; messages: InboxMessage[] }

/** The workspace's inbox: its address and its contents, newest first. */
export async function showInbox(
  { db, config }: Pick<Runtime, 'db' | 'config'>,
  actor: Actor,
): Promise<Inbox> {
  const [workspace] = await db
    .select({ inboxKey: workspaces.inboxKey })
    .from(workspaces)
    .where(eq(workspaces.id, actor.workspaceId))
  const kept = await db
    .select()
    .from(inboxMessages)
    .where(eq(inboxMessages.workspaceId, actor.workspaceId))
    .orderBy(desc(inboxMessages.id))
  return { url: inboxUrl(config, workspace!.inboxKey), messages: kept.map(toInboxMessage) }
}

/** Anyone with the key can send requests, but only webhooks signed by the workspace itself are stored. */
export function inboxUrl({ baseUrl }: Pick<Config, 'baseUrl'>, inboxKey: string): string {
  return `${baseUrl}${inboxPath(inboxKey)}`
}

const inboxPath = (inboxKey: string): string => `/api/inbox/${inboxKey}`

export type InboxMessage = {
  id: string
  receivedAt: string
  headers: Record<string, string>
  body: string
}

function toInboxMessage(row: typeof inboxMessages.$inferSelect): InboxMessage {
  return { id: row.id, receivedAt: row.createdAt.toISOString(), headers: row.headers, body: row.body }
}
