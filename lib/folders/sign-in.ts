import { sql } from 'drizzle-orm'
import { type Db, rows } from '../platform/db/database.ts'
import { isSluiceError, SluiceError } from '../platform/kernel/errors.ts'
import { hashSecret, isPipeId } from '../platform/kernel/ids.ts'
import { isSourceOn } from '../uploads/opening/may-create.ts'
import type { UploadContext } from '../uploads/upload-context.ts'
import { noteRefusal, noteSignIn } from '../workspace/senders/note-sign-in.ts'
import type { FolderProtocol } from './terms.ts'

/** A session's identity. Like other clients, a session uses an upload token for everything it does. */
export type SignedIn = {
  workspaceId: string
  pipeId: string
  senderId: string
  subject: string | null
  token: string
  /** Whether the token was created for this session, and ends with it. */
  ownsToken: boolean
  /** The key that was used to sign in, or null if the client signed in with a token. */
  key: { id: string; fingerprint: string } | null
}

type Context = Pick<UploadContext, 'db' | 'clock' | 'rights'>

const TOKEN = /^tmp_[0-9A-Za-z]{43}$/

/**
 * Signs in with a Pipe id and a temporary token. Every refusal looks the same to the client. Failures are not limited:
 * a token cannot be guessed, and a limit would keep out clients with a valid one who share an address with an attacker.
 */
export async function signInByToken(
  { rights, ...runtime }: Context,
  { user, password, protocol }: { user: string; password: string; protocol: FolderProtocol },
): Promise<SignedIn> {
  if (!isPipeId(user) || !TOKEN.test(password)) throw refused()
  const { token, pipe } = await rights.toCreate(password, user, protocol).catch(async (error: unknown) => {
    const sender = sql`s.id = (select sender_id from tokens where token_hash = ${hashSecret(password)})`
    if (isSluiceError(error)) await noteRefusal(runtime, sender)
    throw error
  })
  if (!isSourceOn(pipe, protocol)) throw refused(`The ${protocol.toUpperCase()} source of this Pipe is off.`)
  // A session lists files, which visitors of an upload link must not see.
  if (token.linkId !== null) throw refused()
  const { workspaceId, senderId, subject } = token
  await noteSignIn(runtime, senderId)
  return { workspaceId, pipeId: user, senderId, subject, token: password, ownsToken: false, key: null }
}

/** Throws if an open session must end. A session whose token has expired may still finish its open files. */
export async function assertStillAllowed(
  { db, rights }: Pick<Context, 'db' | 'rights'>,
  { token, pipeId, key }: SignedIn,
  protocol: FolderProtocol,
): Promise<void> {
  if (key && !(await hasKey(db, key.id))) throw keyRemoved()
  try {
    await rights.toCreate(token, pipeId, protocol)
  } catch (error) {
    if (isSluiceError(error) && ENDS.has(error.code)) throw error
  }
}

const ENDS = new Set(['token_invalid', 'token_revoked', 'forbidden', 'workspace_suspended'])

async function hasKey(db: Db, id: string): Promise<boolean> {
  return (await rows(db, sql`select from sender_keys where id = ${id}::uuid`)).length > 0
}

/**
 * Deletes a token that was created for the session. Otherwise, a partner who connects every minute would leave 46,000
 * tokens behind before the first ones are pruned.
 */
export async function endSession({ db }: Pick<Context, 'db'>, { token, ownsToken }: SignedIn): Promise<void> {
  if (ownsToken) await db.execute(sql`delete from tokens where token_hash = ${hashSecret(token)}`)
}

const keyRemoved = () => new SluiceError('token_revoked', 'This key was removed from its Sender.')

export function refused(
  why = 'The user name is not the id of a Pipe, or the password is not an upload token.',
): SluiceError {
  return new SluiceError('token_invalid', why)
}
