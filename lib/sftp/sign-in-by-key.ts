import { sql } from 'drizzle-orm'
import ssh2, { type PublicKeyAuthContext } from 'ssh2'
import { type Actor, recordAudit } from '../identity/audit/record-audit.ts'
import { isSuspended } from '../identity/suspension.ts'
import { type Db, rows } from '../platform/db/database.ts'
import { days } from '../platform/kernel/clock.ts'
import { hashSecret, isPipeId, newSecret, uuidv7 } from '../platform/kernel/ids.ts'
import type { UploadContext } from '../uploads/upload-context.ts'
import { fingerprintOf } from './read-host-key.ts'
import { countingFailures, refused, type SignedIn } from './sign-in.ts'

type Context = Pick<UploadContext, 'db' | 'clock'>
type Offer = Pick<PublicKeyAuthContext, 'key' | 'signature' | 'blob' | 'hashAlgo'>
type Where = {
  user: string
  /** Undefined if it is a proxy's address, which everyone shares. */
  address: string | undefined
  /** What the records show. */
  from: string
  offer: Offer
  /** Agents offer every key they have: a connection counts as a single failure, not as many. */
  isFirst: boolean
}

type Found = {
  id: string
  algorithm: string
  workspaceId: string
  senderId: string
  sender: string
  subject: string | null
  lastAddress: string | null
}

/** The session's upload token, which is never disclosed. */
const TOKEN_MS = days(1)

/**
 * Signs in with a Pipe id and a Sender's key. Returns undefined for an acceptable key that the client has not signed
 * with yet. Nothing is computed for an unknown key.
 */
export async function signInByKey(context: Context, { user, address, from, offer, isFirst }: Where) {
  if (!isPipeId(user)) throw refused()
  const where = { address, pipeId: user, counts: isFirst }
  return countingFailures(context, where, async () => {
    const fingerprint = fingerprintOf(offer.key.data)
    const found = await findKey(context.db, { pipeId: user, fingerprint })
    if (!found || !isOfAlgorithm(offer, found))
      throw refused('No Sender in this Pipe’s workspace has this key.')
    if (!offer.signature) return undefined
    if (!isSigned(offer)) throw refused('The signature does not match this key.')
    return enter(context, found, { pipeId: user, fingerprint, from })
  })
}

async function findKey(
  db: Db,
  { pipeId, fingerprint }: { pipeId: string; fingerprint: string },
): Promise<Found | undefined> {
  const [found] = await rows<Found>(
    db,
    sql`select k.id, k.algorithm, k.workspace_id as "workspaceId", k.sender_id as "senderId", s.name as sender, k.subject,
        k.last_address as "lastAddress"
      from pipes p join sender_keys k on k.workspace_id = p.workspace_id join senders s on s.id = k.sender_id
      where p.id = ${pipeId} and p.deleted_at is null and p.source_sftp and k.fingerprint = ${fingerprint}
        and s.revoked_at is null and not ${isSuspended(sql`p.workspace_id`)}
        and not (p.require_subject and k.subject is null)`,
  )
  return found
}

/** For an RSA signature with SHA-1, ssh2 reports no hash, whatever the client calls the algorithm. */
const isOfAlgorithm = ({ key, hashAlgo }: Offer, { algorithm }: Found): boolean =>
  key.algo === algorithm && (algorithm !== 'ssh-rsa' || hashAlgo !== undefined)

function isSigned({ key, blob, signature, hashAlgo }: Offer): boolean {
  const parsed = ssh2.utils.parseKey(key.data)
  return !(parsed instanceof Error) && parsed.verify(blob!, signature!, hashAlgo) === true
}

async function enter(
  { db, clock }: Context,
  { id, workspaceId, senderId, sender, subject, lastAddress }: Found,
  { pipeId, fingerprint, from }: { pipeId: string; fingerprint: string; from: string },
): Promise<SignedIn> {
  const token = newSecret('tmp_')
  const now = sql`${new Date(clock.now()).toISOString()}::timestamptz`
  const expiresAt = sql`${new Date(clock.now() + TOKEN_MS).toISOString()}::timestamptz`
  await db.transaction(async (tx) => {
    const used = await rows(
      tx,
      sql`update sender_keys set last_used_at = ${now}, last_address = ${from} where id = ${id}::uuid returning 1`,
    )
    if (used.length === 0) throw refused('The key was just removed.')
    await tx.execute(sql`insert into tokens (id, workspace_id, pipe_id, sender_id, token_hash, subject, expires_at, created_at)
      values (${uuidv7(clock.now())}::uuid, ${workspaceId}::uuid, ${pipeId}, ${senderId}::uuid, ${hashSecret(token)}, ${subject},
        ${expiresAt}, ${now})`)
    // A partner may connect every minute; only a different address is worth recording.
    if (from === lastAddress) return
    const actor: Actor = { workspaceId, kind: 'system', id: null, label: 'SFTP', role: 'viewer' }
    const detail = { address: from, fingerprint, pipeId }
    const entry = { action: 'sender.key_used', subjectId: senderId, subjectLabel: sender, detail }
    await recordAudit({ db: tx, clock }, actor, entry)
  })
  return { workspaceId, pipeId, senderId, subject, token, key: { id, fingerprint } }
}
