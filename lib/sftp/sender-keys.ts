import { and, asc, count, eq } from 'drizzle-orm'
import { z } from 'zod'
import { senderKeys } from '#drizzle/schema/index.ts'
import { type Actor, recordAudit } from '../identity/audit/record-audit.ts'
import { SluiceError } from '../platform/kernel/errors.ts'
import { isUuid, uuidv7 } from '../platform/kernel/ids.ts'
import { nameField, toAnswer } from '../platform/kernel/parse-input.ts'
import type { CoreRuntime, Runtime } from '../platform/runtime.ts'
import { findSender } from '../workspace/senders/read-senders.ts'
import { tokenInput } from '../workspace/tokens/token.ts'
import { readPublicKey } from './public-key.ts'

/** The maximum number of keys for each Sender. */
const MOST_KEYS = 50

const publicKeyField = z
  .string()
  .max(4000, 'must have at most 4000 characters')
  .transform((line, context) => {
    const read = readPublicKey(line)
    if (typeof read !== 'string') return read
    context.addIssue({ code: 'custom', message: read })
    return z.NEVER
  })

export const senderKeyInput = z.strictObject({
  name: nameField,
  /** A line as in `id_ed25519.pub`, with a key of type ed25519 or ecdsa, or of type rsa with at least 2048 bits. */
  publicKey: publicKeyField,
  /** The person or partner these uploads belong to, as in a token. */
  subject: tokenInput.shape.subject,
})
export type SenderKeyInput = z.output<typeof senderKeyInput>

export const senderKeyAnswer = z.strictObject({
  id: z.uuid(),
  name: z.string(),
  algorithm: z.string(),
  /** The fingerprint in the format that OpenSSH shows. */
  fingerprint: z.string(),
  subject: z.string().nullable(),
  lastUsedAt: z.iso.datetime().nullable(),
  lastAddress: z.string().nullable(),
  createdAt: z.iso.datetime(),
})
export type SenderKey = z.output<typeof senderKeyAnswer>

const toSenderKey = (row: typeof senderKeys.$inferSelect): SenderKey => toAnswer(senderKeyAnswer, row)

/**
 * Adds a key. The holder of the private key may upload over SFTP to every Pipe that the Sender may use and whose SFTP
 * source is on.
 */
export async function addSenderKey(
  { db, clock }: CoreRuntime,
  actor: Actor,
  senderId: string,
  { name, publicKey, subject }: SenderKeyInput,
): Promise<SenderKey> {
  return db.transaction(async (tx) => {
    const sender = await findSender(tx, actor, senderId, 'update')
    if (sender.revokedAt) throw new SluiceError('conflict', 'This Sender was revoked. Create another Sender.')
    const [has] = await tx.select({ keys: count() }).from(senderKeys).where(eq(senderKeys.senderId, senderId))
    if (has!.keys >= MOST_KEYS)
      throw new SluiceError('conflict', `A Sender can have at most ${MOST_KEYS} keys. Remove one first.`)
    const { algorithm, data, fingerprint } = publicKey
    const { workspaceId } = actor
    const [row] = await tx
      .insert(senderKeys)
      .values({
        id: uuidv7(clock.now()),
        workspaceId,
        senderId,
        name,
        algorithm,
        publicKey: data.toString('base64'),
        fingerprint,
        subject: subject ?? null,
        createdAt: new Date(clock.now()),
      })
      .onConflictDoNothing()
      .returning()
    if (!row)
      throw new SluiceError(
        'conflict',
        'A Sender in this workspace already has this key. Remove it from that Sender first.',
      )
    const detail = { key: name, fingerprint, subject }
    await recordAudit({ db: tx, clock }, actor, { ...about(sender), action: 'sender.key_added', detail })
    return toSenderKey(row)
  })
}

export async function listSenderKeys(
  { db }: Pick<Runtime, 'db'>,
  actor: Actor,
  senderId: string,
): Promise<SenderKey[]> {
  await findSender(db, actor, senderId)
  const found = await db
    .select()
    .from(senderKeys)
    .where(eq(senderKeys.senderId, senderId))
    .orderBy(asc(senderKeys.id))
  return found.map(toSenderKey)
}

/** Removes a key. Open sessions that use the key end at their next request. */
export async function removeSenderKey(
  { db, clock }: CoreRuntime,
  actor: Actor,
  senderId: string,
  keyId: string,
): Promise<SenderKey> {
  return db.transaction(async (tx) => {
    const sender = await findSender(tx, actor, senderId)
    const isIt = and(eq(senderKeys.id, keyId), eq(senderKeys.senderId, senderId))
    const [row] = isUuid(keyId) ? await tx.delete(senderKeys).where(isIt).returning() : []
    if (!row) throw new SluiceError('not_found', 'This Sender has no such key.')
    const detail = { key: row.name, fingerprint: row.fingerprint }
    await recordAudit({ db: tx, clock }, actor, { ...about(sender), action: 'sender.key_removed', detail })
    return toSenderKey(row)
  })
}

const about = ({ id, name }: { id: string; name: string }) => ({ subjectId: id, subjectLabel: name })
