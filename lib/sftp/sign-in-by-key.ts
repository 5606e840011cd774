import { type SQL, sql } from 'drizzle-orm'
import ssh2, { type PublicKeyAuthContext } from 'ssh2'
import { refused, type SignedIn } from '../folders/sign-in.ts'
import { type Actor, recordAudit } from '../identity/audit/record-audit.ts'
import { isSuspended, notOfDemo } from '../identity/suspension.ts'
import { rows } from '../platform/db/database.ts'
import { days } from '../platform/kernel/clock.ts'
import { hashSecret, isPipeId, newSecret, uuidv7 } from '../platform/kernel/ids.ts'
import type { UploadContext } from '../uploads/upload-context.ts'
import { mayUsePipe, mayUseSource, WITH_GROUP } from '../workspace/senders/limits.ts'
import { noteRefusal, noteSignIn } from '../workspace/senders/note-sign-in.ts'
import { fingerprintOf } from './read-host-key.ts'

type Context = Pick<UploadContext, 'db' | 'clock'> & { config: { demo: boolean } }
type Offer = Pick<PublicKeyAuthContext, 'key' | 'signature' | 'blob' | 'hashAlgo'>
type Where = {
  user: string
  /** The address to record. */
  from: string
  offer: Offer
}

type Found = {
  id: string
  algorithm: string
  workspaceId: string
  senderId: string
  sender: string
  subject: string | null
}

/** The lifetime of the session's upload token, which is never disclosed. */
const TOKEN_MS = days(1)
/** How many of the addresses most recently added to a key are remembered. */
const KNOWN_ADDRESSES = 20

/**
 * Signs in with a Pipe id and a Sender's key. Returns undefined if the key is acceptable but the client has not signed
 * with it yet. For an unknown key, no signature is verified.
 */
export async function signInByKey(
  context: Context,
  { user, from, offer }: Where,
): Promise<SignedIn | undefined> {
  const fingerprint = fingerprintOf(offer.key.data)
  const found = isPipeId(user) && (await findKey(context, { pipeId: user, fingerprint }))
  if (!found || !isOfAlgorithm(offer, found)) {
    if (isPipeId(user)) await noteRefusal(context, ofKey(user, fingerprint))
    throw refused("No Sender in this Pipe's workspace has this key.")
  }
  if (!offer.signature) return undefined
  if (!isSigned(offer)) throw refused('The signature does not match this key.')
  return enter(context, found, { pipeId: user, fingerprint, from })
}

/** The key may be known but revoked, or not allowed on this Pipe. */
const ofKey = (pipeId: string, fingerprint: string): SQL =>
  sql`s.id = (select k.sender_id from pipes p join sender_keys k on k.workspace_id = p.workspace_id
    where p.id = ${pipeId} and k.fingerprint = ${fingerprint})`

async function findKey(
  { db, config }: Pick<Context, 'db' | 'config'>,
  { pipeId, fingerprint }: { pipeId: string; fingerprint: string },
): Promise<Found | undefined> {
  const [found] = await rows<Found>(
    db,
    sql`select k.id, k.algorithm, k.workspace_id as "workspaceId", k.sender_id as "senderId", s.name as sender, k.subject
      from pipes p join sender_keys k on k.workspace_id = p.workspace_id join senders s on s.id = k.sender_id ${WITH_GROUP}
      where p.id = ${pipeId} and p.deleted_at is null and p.source_sftp and k.fingerprint = ${fingerprint}
        and s.revoked_at is null and ${mayUsePipe(sql`p.id`)} and ${mayUseSource('sftp')} and not ${isSuspended(sql`p.workspace_id`)}
        and ${notOfDemo(config, sql`p.workspace_id`)}
        and not (p.require_subject and k.subject is null)`,
  )
  return found
}

/** For an RSA signature with SHA-1, ssh2 reports no hash, whatever algorithm the client names. */
const isOfAlgorithm = ({ key, hashAlgo }: Offer, { algorithm }: Found): boolean =>
  key.algo === algorithm && (algorithm !== 'ssh-rsa' || hashAlgo !== undefined)

function isSigned({ key, blob, signature, hashAlgo }: Offer): boolean {
  const parsed = ssh2.utils.parseKey(key.data)
  return !(parsed instanceof Error) && parsed.verify(blob!, signature!, hashAlgo) === true
}

async function enter(
  { db, clock }: Context,
  { id, workspaceId, senderId, sender, subject }: Found,
  { pipeId, fingerprint, from }: { pipeId: string; fingerprint: string; from: string },
): Promise<SignedIn> {
  const token = newSecret('tmp_')
  const now = sql`${new Date(clock.now()).toISOString()}::timestamptz`
  const expiresAt = sql`${new Date(clock.now() + TOKEN_MS).toISOString()}::timestamptz`
  await db.transaction(async (tx) => {
    const [used] = await rows<{ isKnown: boolean }>(
      tx,
      sql`update sender_keys k set last_used_at = ${now}, last_address = ${from}::text,
          addresses = case when before.is_known then k.addresses else (array[${from}::text] || k.addresses)[1:${KNOWN_ADDRESSES}::int] end
        from (select ${from}::text = any(addresses) as is_known from sender_keys where id = ${id}::uuid for update) before
        where k.id = ${id}::uuid returning before.is_known as "isKnown"`,
    )
    if (!used) throw refused('The key has just been removed.')
    await noteSignIn({ db: tx, clock }, senderId)
    await tx.execute(sql`insert into tokens (id, workspace_id, pipe_id, sender_id, token_hash, subject, expires_at, created_at)
      values (${uuidv7(clock.now())}::uuid, ${workspaceId}::uuid, ${pipeId}, ${senderId}::uuid, ${hashSecret(token)}, ${subject},
        ${expiresAt}, ${now})`)
    // A partner may connect every minute from alternating addresses, so only a new address is recorded.
    if (used.isKnown) return
    const actor: Actor = { workspaceId, kind: 'system', id: null, label: 'SFTP', role: 'viewer' }
    const detail = { address: from, fingerprint, pipeId }
    const entry = { action: 'sender.key_used', subjectId: senderId, subjectLabel: sender, detail }
    await recordAudit({ db: tx, clock }, actor, entry)
  })
  return { workspaceId, pipeId, senderId, subject, token, ownsToken: true, key: { id, fingerprint } }
}
