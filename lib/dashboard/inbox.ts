import { and, type Column, desc, eq, or, type SQL, sql } from 'drizzle-orm'
import { inboxMessages, webhookOutputs, workspaces } from '#drizzle/schema/index.ts'
import type { Actor } from '../identity/audit/record-audit.ts'
import { type Db, rows } from '../platform/db/database.ts'
import { GATHER_WRITES_MS, inGroups } from '../platform/db/in-groups.ts'
import { toProblem } from '../platform/http/problem.ts'
import { type IncomingBody, readBytes } from '../platform/http/read-request.ts'
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

type Received = {
  inboxKey: string
  headers: Record<string, string>
  body: string
  pipeId: string | undefined
}
type InboxRuntime = Pick<Runtime, 'db' | 'clock' | 'vault' | 'config' | 'log'>

/**
 * The inbox is a webhook receiver inside Sluice, for users whose own receiver is not running yet, and for the demo. It
 * behaves as receivers should: it only accepts webhooks signed by the workspace's own outputs. Under load, an inbox
 * verifies and stores its webhooks in groups: each alone would take four statements.
 */
export function createInbox(runtime: InboxRuntime) {
  const receive = inGroups((received: Received[]) => receiveAll(runtime, received), {
    most: KEPT,
    keyOf: ({ inboxKey }) => inboxKey,
    gatherMs: GATHER_WRITES_MS,
  })
  return async (request: IncomingBody, inboxKey: string) => {
    try {
      if (!isInboxKey(inboxKey)) throw noInbox()
      const body = (await readBytes(request)).toString('utf8')
      const fault = await receive({
        inboxKey,
        headers: headersOf(request),
        body,
        pipeId: pipeIdIn(body),
      })
      if (fault) throw fault
      return { status: 204, headers: { 'Cache-Control': 'no-store' }, body: null }
    } catch (error) {
      const { status, headers, body } = toProblem(error, runtime.config.baseUrl)
      if (status >= 500) runtime.log.error({ err: error }, 'the inbox failed')
      return { status, headers, body }
    }
  }
}

const noInbox = () => new SluiceError('not_found', 'There is no inbox at this address.')

const headersOf = ({ headers }: IncomingBody): Record<string, string> =>
  Object.fromEntries(
    HEADERS.flatMap((name) => {
      const value = headers.get(name)
      return value === null ? [] : [[name, value]]
    }),
  )

/** Returns, for each webhook, why it is rejected, if it is. */
async function receiveAll(
  { db, clock, vault }: InboxRuntime,
  received: Received[],
): Promise<(SluiceError | undefined)[]> {
  const now = clock.now()
  const found = await possibleSenders(db, received)
  const workspaceId = found[0]?.workspaceId
  if (!workspaceId) return received.map(noInbox)
  const outputs = found.flatMap(({ output }) =>
    output ? [{ ...output, secrets: openSecrets(vault, output, now) }] : [],
  )
  const faults = received.map((one) => {
    const mayHaveSent = senderOf(one, workspaceId)
    return faultOf(one, outputs.filter(mayHaveSent), now)
  })
  const accepted = received.filter((_, at) => !faults[at])
  if (accepted.length > 0) await store(db, workspaceId, accepted, now)
  return faults
}

function faultOf(
  { headers, body }: Received,
  outputs: { secrets: string[] }[],
  now: number,
): SluiceError | undefined {
  if (outputs.length === 0)
    return new SluiceError('forbidden', "This inbox only accepts webhooks from its own workspace's outputs.")
  const secrets = outputs.flatMap((output) => output.secrets)
  const wrong = Object.entries(verifyWebhook({ headers, body }, secrets, now)).find(
    ([, finding]) => finding !== 'valid',
  )
  return wrong && new SluiceError('forbidden', `The ${wrong[0]} signature is not valid: ${wrong[1]}.`)
}

/**
 * The outputs that may have sent a body: those of the workspace, and those of the Pipe that it names. Some events, such
 * as `data_store.failing`, name no Pipe, so any output with this inbox's address may have sent them. The signature
 * proves which one did.
 */
const senderOf =
  ({ inboxKey, pipeId }: Received, workspaceId: string) =>
  ({ scope, url }: { scope: string | null; url: string }) =>
    scope === workspaceId || (pipeId ? scope === pipeId : url.endsWith(inboxPath(inboxKey)))

/** Returns the inbox's workspace with all outputs that may have sent one of these, or with none. */
function possibleSenders(db: Db, received: Received[]) {
  const [{ inboxKey }] = received as [Received]
  const pipeIds = JSON.stringify([...new Set(received.flatMap(({ pipeId }) => pipeId ?? []))])
  const scopes = sql`array(select json_array_elements_text(${pipeIds}::json)) || ${workspaces.id}::text`
  const isSender = or(
    sql`${webhookOutputs.scope} = any (${scopes})`,
    received.every(({ pipeId }) => pipeId) ? undefined : endsWith(webhookOutputs.url, inboxPath(inboxKey)),
  )
  return db
    .select({ workspaceId: workspaces.id, output: webhookOutputs })
    .from(workspaces)
    .leftJoin(webhookOutputs, and(eq(webhookOutputs.workspaceId, workspaces.id), isSender))
    .where(eq(workspaces.inboxKey, inboxKey))
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

/** Stores the webhooks, and deletes all that are no longer among the latest. */
async function store(db: Db, workspaceId: string, accepted: Received[], now: number): Promise<void> {
  const messages = accepted.map(({ headers, body }) => ({
    id: uuidv7(now),
    webhook_id: headers['webhook-id'],
    headers,
    body,
  }))
  await rows(
    db,
    sql`with stored as (
      insert into inbox_messages (id, workspace_id, webhook_id, headers, body, created_at)
      select id, ${workspaceId}::uuid, webhook_id, headers, body, ${new Date(now).toISOString()}::timestamptz
      from json_to_recordset(${JSON.stringify(messages)}::json) as m(id uuid, webhook_id text, headers jsonb, body text)
    )
    delete from inbox_messages where id = any (array(
      select id from inbox_messages where workspace_id = ${workspaceId}::uuid order by id desc
      offset ${KEPT - messages.length}::int
    ))`,
  )
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
