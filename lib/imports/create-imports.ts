import { sql } from 'drizzle-orm'
import { imports } from '#drizzle/schema/index.ts'
import { createForBackend, rightOf } from '../backend-uploads/create-for-backend.ts'
import { type Actor, recordAudit } from '../identity/audit/record-audit.ts'
import { type Db, rows } from '../platform/db/database.ts'
import { days } from '../platform/kernel/clock.ts'
import { invalidRequest, isSluiceError, SluiceError } from '../platform/kernel/errors.ts'
import { assertAllowedUrl } from '../platform/net/judge-connection.ts'
import type { Runtime } from '../platform/runtime.ts'
import { issueToken } from '../workspace/tokens/issue-token.ts'
import { issueTrialToken } from '../workspace/tokens/issue-trial-token.ts'
import {
  filenameOf,
  type ImportedFrom,
  type ImportsInput,
  type SealedSource,
  shownUrlOf,
  sourcePlace,
} from './import.ts'

/** The maximum number of unfinished imports in a workspace. */
const MOST_WAITING = 10_000
const TOKEN_SECONDS = days(1) / 1000

/**
 * Creates files whose bytes a worker will fetch: either all of them or none. The files belong to a new token, as if a
 * client had requested the token and used it to upload them. Revoking the token or its Sender therefore also ends the
 * imports.
 */
export async function createImports(
  runtime: Runtime,
  senderToken: string,
  { files, ...token }: ImportsInput,
): Promise<string[]> {
  assertAllowed(runtime, files)
  return runtime.db.transaction(async (tx) => {
    const inside = { ...runtime, db: tx }
    const issuing = { ...token, expiresIn: TOKEN_SECONDS, allowedTypes: [] }
    const issued = await issueToken(inside, senderToken, issuing, 'url')
    return insertImports(inside, issued, files)
  })
}

/** Creates imports for a signed-in user on behalf of the oldest Sender, as on the “Try it” page. */
export async function createImportsByHand(
  runtime: Runtime,
  actor: Actor,
  { pipeId, subject, files }: Pick<ImportsInput, 'pipeId' | 'files'> & { subject: string },
): Promise<string[]> {
  assertAllowed(runtime, files)
  return runtime.db.transaction(async (tx) => {
    const inside = { ...runtime, db: tx }
    const { token } = await issueTrialToken(inside, actor, pipeId, { subject, source: 'url' })
    const ids = await insertImports(inside, { token, pipeId }, files)
    const entry = { action: 'pipe.imported', subjectId: pipeId, detail: { files: ids.length } }
    await recordAudit(inside, actor, entry)
    return ids
  })
}

/** Reports a forbidden address early. This is only a convenience: for security, each connection is checked, too. */
function assertAllowed({ config }: Runtime, files: readonly ImportedFrom[]): void {
  for (const [at, { url }] of files.entries()) {
    try {
      assertAllowedUrl(url, config.allowedPrivateHosts)
    } catch (error) {
      if (!isSluiceError(error) || files.length === 1) throw error
      throw invalidRequest([{ field: `files.${at}.url`, message: `is refused: ${error.message}` }])
    }
  }
}

async function insertImports(
  runtime: Runtime,
  { token, pipeId }: { token: string; pipeId: string },
  files: readonly ImportedFrom[],
): Promise<string[]> {
  const { db, clock, vault } = runtime
  const right = await rightOf(runtime, { token, pipeId })
  await assertFewWaiting(db, right.token.workspaceId, files.length)
  const declared = files.map((file) => ({
    filename: filenameOf(file),
    filetype: null,
    lengthBytes: null,
    uploadMetadata: {},
    uploadMetadataHeader: null,
    concat: null,
    protocol: 'url' as const,
  }))
  const ids = await createForBackend(runtime, right, declared)
  await db.insert(imports).values(
    files.map(({ url, headers = {}, digest }, at) => ({
      fileId: ids[at]!,
      workspaceId: right.token.workspaceId,
      shownUrl: shownUrlOf(url),
      sealed: vault.seal(
        JSON.stringify({ url, headers, token } satisfies SealedSource),
        sourcePlace(ids[at]!),
      ),
      sha256: digest?.slice('sha-256:'.length) ?? null,
      dueAt: new Date(clock.now()),
      createdAt: new Date(clock.now()),
    })),
  )
  return ids
}

async function assertFewWaiting(db: Db, workspaceId: string, more: number): Promise<void> {
  const [counted] = await rows<{ waiting: number }>(
    db,
    sql`select count(*)::int as waiting from imports where workspace_id = ${workspaceId}::uuid and due_at is not null`,
  )
  if (counted!.waiting + more <= MOST_WAITING) return
  throw new SluiceError(
    'rate_limited',
    `A workspace may have at most ${MOST_WAITING} unfinished imports, and this one has ${counted!.waiting}. Create more once some have ended.`,
    { headers: { 'Retry-After': '60' } },
  )
}
