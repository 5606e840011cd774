import { and, eq, sql } from 'drizzle-orm'
import { type Hook, pipeHooks } from '#drizzle/schema/index.ts'
import { ENDED_FILE, type EndedFile } from '../events/file-event.ts'
import { type Db, rows } from '../platform/db/database.ts'
import { notNow, SluiceError } from '../platform/kernel/errors.ts'
import { uuidv7Ms } from '../platform/kernel/ids.ts'
import { createGuardedAgents } from '../platform/net/guarded-agents.ts'
import type { Runtime } from '../platform/runtime.ts'
import { NO_ANSWER, type Verdict } from '../uploads/rules/decision.ts'
import type { Asked, Hooks } from '../uploads/upload-context.ts'
import { KEPT_MS } from '../webhooks/delivery/deliver.ts'
import { webhookHosts } from '../webhooks/outputs/save-output.ts'
import { type BeforeCompleteAnswer, beforeCompleteAnswer, beforeCreateAnswer } from './answers.ts'
import { type Asking, ask, HOOK_RETRIES_MS, type Question } from './ask.ts'
import type { HookRow } from './hook.ts'

type HooksRuntime = Pick<Runtime, 'db' | 'clock' | 'vault' | 'metrics' | 'log' | 'config'>

/** What uploads know of decision hooks: what the customer's backend answers, or what its hook says for a missing answer. */
export function openHooks(
  { db, config, ...runtime }: HooksRuntime,
  { retryDelaysMs = HOOK_RETRIES_MS }: { retryDelaysMs?: readonly number[] } = {},
): Hooks {
  const agents = createGuardedAgents(webhookHosts(config), { agent: { timeout: KEPT_MS } })
  const asking: Asking = { ...runtime, agents, retryDelaysMs }
  return {
    async beforeCreate(asked) {
      const hook = await findEnabled(db, asked.pipe.id, 'before_create')
      if (!hook) return {}
      const answer = await ask(asking, hook, questionBefore(asked), beforeCreateAnswer)
      if (!answer) return withoutAnswer(hook)
      const { allow, reason, status, ...named } = answer
      if (!allow) throw refused(reason, status)
      return named
    },
    async beforeComplete(fileId) {
      const file = await readFile(db, fileId)
      const hook = file && (await findEnabled(db, file.pipeId, 'before_complete'))
      // It was removed after the upload began.
      if (!hook) return { state: 'allowed', by: 'default', result: undefined }
      return verdictOf(hook, await ask(asking, hook, questionAfter(file), beforeCompleteAnswer))
    },
  }
}

async function findEnabled(db: Db, pipeId: string, hook: Hook): Promise<HookRow | undefined> {
  const [row] = await db
    .select()
    .from(pipeHooks)
    .where(and(eq(pipeHooks.pipeId, pipeId), eq(pipeHooks.hook, hook), eq(pipeHooks.enabled, true)))
  return row
}

/** Its client may try again: nothing was stored. */
function withoutAnswer({ withoutAnswer }: HookRow): Record<string, never> {
  if (withoutAnswer === 'allow') return {}
  throw notNow('The server that decides about uploads to this Pipe does not answer. Try again.')
}

function refused(reason = 'Uploads like this are not allowed here.', status = 403): SluiceError {
  return new SluiceError('upload_rejected', reason, { status })
}

function verdictOf(hook: HookRow, answer: BeforeCompleteAnswer | undefined): Verdict {
  if (!answer && hook.withoutAnswer === 'allow') return { state: 'allowed', by: 'default', result: undefined }
  if (!answer) return { state: 'rejected', by: 'default', reason: NO_ANSWER }
  if ('defer' in answer) return { state: 'deferred', by: 'receiver' }
  const { allow, reason = 'The file was rejected.', result } = answer
  return allow ? { state: 'allowed', by: 'receiver', result } : { state: 'rejected', by: 'receiver', reason }
}

function questionBefore({ fileId, token, pipe, declared }: Asked): Question {
  return question('before_create', fileId, uuidv7Ms(fileId), {
    pipe_id: pipe.id,
    file_id: fileId,
    filename: declared.filename,
    filetype: declared.filetype,
    size: declared.lengthBytes,
    sender: token.senderName,
    protocol: declared.protocol,
    subject: token.subject,
    metadata: token.metadata,
    uploadMetadata: declared.uploadMetadata,
    token: {
      id: token.id,
      keyPrefix: token.keyPrefix,
      maxBytes: token.maxBytes,
      maxFiles: token.maxFiles,
      allowedTypes: token.allowedTypes,
    },
  })
}

function questionAfter(file: WholeFile): Question {
  return question('before_complete', file.id, file.lastByteMs, {
    pipe_id: file.pipeId,
    file_id: file.id,
    filename: file.filename,
    filetype: file.filetype,
    size: file.offsetBytes,
    sender: file.senderName,
    protocol: file.protocol,
    subject: file.subject,
    metadata: file.metadata,
    uploadMetadata: file.uploadMetadata,
    checksum: `crc32:${file.crc32!.toString(16).padStart(8, '0')}`,
    destinations: file.destinations.map(({ dataStoreId, bucket, key, required }) => ({
      destinationId: dataStoreId,
      bucket,
      key,
      required,
    })),
  })
}

/** The id is that of the file and the hook: a receiver that is asked twice recognizes it. */
function question(hook: Hook, fileId: string, atMs: number, data: object): Question {
  const id = `${hook}-${fileId}`
  return { id, body: JSON.stringify({ id, hook, timestamp: new Date(atMs).toISOString(), data }) }
}

type WholeFile = EndedFile & { lastByteMs: number }

async function readFile(db: Db, fileId: string): Promise<WholeFile | undefined> {
  const [file] = await rows<WholeFile>(
    db,
    sql`select ${ENDED_FILE}, floor(extract(epoch from coalesce(f.last_byte_at, f.created_at)) * 1000)::float8 as "lastByteMs"
      from files f where f.id = ${fileId}::uuid`,
  )
  return file
}
