import { sql } from 'drizzle-orm'
import { type Db, rows } from '../platform/db/database.ts'
import { isSluiceError, SluiceError } from '../platform/kernel/errors.ts'
import { isPipeId } from '../platform/kernel/ids.ts'
import { isSpent, isSpentForAddress, takeForAddress, takeFromLimit } from '../platform/rate-limits.ts'
import type { UploadContext } from '../uploads/upload-context.ts'

/** A session's identity. Like other clients, a session uses an upload token for everything it does. */
export type SignedIn = {
  workspaceId: string
  pipeId: string
  senderId: string
  subject: string | null
  token: string
  /** The key that was used to sign in, or null if the client signed in with a token. */
  key: { id: string; fingerprint: string } | null
}

/**
 * `address` is undefined if the connection comes from a proxy, whose address all clients share. `pipeId` is undefined
 * if the user name is not a Pipe id.
 */
type Where = { address: string | undefined; pipeId: string | undefined }
type Context = Pick<UploadContext, 'db' | 'clock' | 'rights'>

/**
 * Limits for failed sign-ins across all nodes. A Pipe's limit is higher, so that one network cannot lock out the Pipe's
 * other users.
 */
const PER_ADDRESS = { burst: 30, refillMs: 10_000 }
const PER_PIPE = { burst: 600, refillMs: 500 }
const FOR_ADDRESS = 'sftp'
const keyOfPipe = (pipeId: string) => `sftp:pipe:${pipeId}`

const TOKEN = /^tmp_[0-9A-Za-z]{43}$/

/** Signs in with a Pipe id and a temporary token. Every refusal looks the same to the client. */
export async function signInByToken(
  context: Context,
  { user, password, address }: { user: string; password: string; address: string | undefined },
): Promise<SignedIn> {
  if (!isPipeId(user) || !TOKEN.test(password)) {
    await countFailure(context, { address, pipeId: undefined })
    throw refused()
  }
  const where = { address, pipeId: user }
  await assertFewFailures(context, where)
  try {
    const { token, pipe } = await context.rights.toCreate(password, user)
    if (!pipe.sourceSftp) throw refused('The SFTP source of this Pipe is off.')
    // An SFTP session lists files, which visitors of an upload link must not see.
    if (token.linkId !== null) throw refused()
    const { workspaceId, senderId, subject } = token
    return { workspaceId, pipeId: user, senderId, subject, token: password, key: null }
  } catch (error) {
    if (isSluiceError(error) && error.status < 500) await countFailure(context, where)
    throw error
  }
}

export async function assertFewFailures(
  { db, clock }: Pick<Context, 'db' | 'clock'>,
  { address, pipeId }: Where,
): Promise<void> {
  const nowMs = clock.now()
  const limits = [isSpent(sql`${keyOfPipe(pipeId!)}`, PER_PIPE, nowMs)]
  if (address) limits.push(isSpentForAddress(FOR_ADDRESS, address, PER_ADDRESS, nowMs))
  const [found] = await rows<{ spent: boolean }>(db, sql`select ${sql.join(limits, sql` or `)} as spent`)
  if (found!.spent) throw new SluiceError('rate_limited', 'Too many attempts have failed.')
}

export async function countFailure(
  context: Pick<Context, 'db' | 'clock'>,
  { address, pipeId }: Where,
): Promise<void> {
  const taken: Promise<void>[] = []
  if (address) taken.push(takeForAddress(context, FOR_ADDRESS, address, PER_ADDRESS))
  if (pipeId) taken.push(takeFromLimit(context, keyOfPipe(pipeId), PER_PIPE))
  const counted = taken.map((one) =>
    one.catch((error) => {
      // A limit has been reached, and then every further attempt is refused.
      if (!isSluiceError(error)) throw error
    }),
  )
  await Promise.all(counted)
}

/** Throws if an open session must end. A session whose token has expired may still finish its open files. */
export async function assertStillAllowed({ db, rights }: Context, signedIn: SignedIn): Promise<void> {
  const { token, pipeId, key } = signedIn
  if (key && !(await hasKey(db, key.id))) throw keyRemoved()
  try {
    await rights.toCreate(token, pipeId)
  } catch (error) {
    if (isSluiceError(error) && ENDS.has(error.code)) throw error
  }
}

const ENDS = new Set(['token_invalid', 'token_revoked', 'workspace_suspended'])

async function hasKey(db: Db, id: string): Promise<boolean> {
  return (await rows(db, sql`select from sender_keys where id = ${id}::uuid`)).length > 0
}

const keyRemoved = () => new SluiceError('token_revoked', 'This key was removed from its Sender.')

export function refused(
  why = 'The user name is not the id of a Pipe, or the password is not an upload token.',
): SluiceError {
  return new SluiceError('token_invalid', why)
}
