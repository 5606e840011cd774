import { and, desc, eq, isNull, lt } from 'drizzle-orm'
import { z } from 'zod'
import { uploadLinks } from '#drizzle/schema/index.ts'
import { hashPassword } from '../identity/accounts/password.ts'
import { reachableAddresses } from '../identity/accounts/users.ts'
import { type Actor, recordAudit } from '../identity/audit/record-audit.ts'
import { type Page, pageQuery, readCursor, toPage } from '../platform/db/page.ts'
import { invalidRequest } from '../platform/kernel/errors.ts'
import { hashSecret, isUuid, newLinkCode, uuidv7 } from '../platform/kernel/ids.ts'
import type { ConfiguredRuntime, Runtime } from '../platform/runtime.ts'
import { findPipe } from '../workspace/pipes/read-pipes.ts'
import { renameSender, revokeSender } from '../workspace/senders/change-sender.ts'
import { createSender } from '../workspace/senders/create-sender.ts'
import { originOfLinks } from './link-host.ts'
import {
  findUploadLink,
  toUploadLink,
  type UploadLink,
  type UploadLinkChange,
  type UploadLinkInput,
} from './upload-link.ts'

type WithPassword = { password?: string | null }
type Hashed<Given extends WithPassword> = Omit<Given, 'password'> & {
  password?: never
  passwordHash?: string | null
}

/** Hashes the password, if there is one. This takes too long to be done inside a transaction. */
export async function hashingPassword<Given extends WithPassword>(given: Given): Promise<Hashed<Given>> {
  const { password, ...rest } = given
  if (password === undefined) return rest
  return { ...rest, passwordHash: password === null ? null : await hashPassword(password) }
}

/**
 * Creates a link with a Sender whose token is never disclosed: it marks the files uploaded through the link, and
 * revoking it revokes all of the link's tokens. Only this response contains the code.
 */
export async function createUploadLink(
  { db, clock, config }: ConfiguredRuntime,
  actor: Actor,
  { passwordHash = null, ...input }: Hashed<UploadLinkInput>,
): Promise<UploadLink & { code: string; url: string }> {
  const code = newLinkCode()
  return db.transaction(async (tx) => {
    const inside = { db: tx, clock }
    await findPipe(tx, actor, input.pipeId)
    await assertOfMember({ db: tx, config }, actor, input.notifyEmail)
    const sender = await createSender(inside, actor, { name: input.title })
    const now = clock.now()
    const { workspaceId } = actor
    const of = { id: uuidv7(now), workspaceId, senderId: sender.id, codeHash: hashSecret(code) }
    const values = { ...input, ...of, passwordHash, createdAt: new Date(now) }
    const [row] = await tx.insert(uploadLinks).values(values).returning()
    const detail = { ...input, hasPassword: passwordHash !== null }
    const entry = { action: 'upload_link.created', subjectId: of.id, subjectLabel: input.title, detail }
    await recordAudit(inside, actor, entry)
    const url = `${await originOfLinks({ db: tx, config }, workspaceId)}/u/${code}`
    return { ...toUploadLink(row!, now), code, url }
  })
}

/** So that a link sends no emails to strangers. */
async function assertOfMember(
  inTx: Pick<Runtime, 'db' | 'config'>,
  { workspaceId }: Actor,
  email: string | null | undefined,
): Promise<void> {
  if (!email || (await reachableAddresses(inTx, workspaceId)).includes(email)) return
  const message = "must be a member's verified address, on a server that sends email"
  throw invalidRequest([{ field: 'notifyEmail', message }])
}

export const linksQuery = pageQuery.extend({ pipeId: z.string().max(100).optional() })

export async function listUploadLinks(
  { db, clock }: Pick<Runtime, 'db' | 'clock'>,
  actor: Actor,
  { limit, cursor, pipeId }: z.output<typeof linksQuery>,
): Promise<Page<UploadLink>> {
  const before = readCursor(cursor, isUuid)
  const rows = await db
    .select()
    .from(uploadLinks)
    .where(
      and(
        eq(uploadLinks.workspaceId, actor.workspaceId),
        isNull(uploadLinks.deletedAt),
        pipeId === undefined ? undefined : eq(uploadLinks.pipeId, pipeId),
        before ? lt(uploadLinks.id, before) : undefined,
      ),
    )
    .orderBy(desc(uploadLinks.id))
    .limit(limit + 1)
  return toPage(
    rows,
    limit,
    (row) => toUploadLink(row, clock.now()),
    (row) => row.id,
  )
}

/** Closing stops new uploads immediately; uploads in progress continue. */
export async function changeUploadLink(
  { db, clock, config }: ConfiguredRuntime,
  actor: Actor,
  id: string,
  { closed, passwordHash, ...fields }: Hashed<UploadLinkChange>,
): Promise<UploadLink> {
  return db.transaction(async (tx) => {
    const before = await findUploadLink(tx, actor, id, 'update')
    await assertOfMember({ db: tx, config }, actor, fields.notifyEmail)
    const now = clock.now()
    const closedAt =
      closed === undefined ? before.closedAt : closed ? (before.closedAt ?? new Date(now)) : null
    const set = { ...fields, closedAt, ...(passwordHash !== undefined && { passwordHash }) }
    const { title = before.title } = fields
    // Files show the Sender's name, which must match the title.
    if (title !== before.title) await renameSender({ db: tx, clock }, actor, before.senderId, { name: title })
    const [row] = await tx.update(uploadLinks).set(set).where(eq(uploadLinks.id, id)).returning()
    const detail = {
      ...fields,
      ...(closed !== undefined && { closed }),
      ...(passwordHash !== undefined && { hasPassword: passwordHash !== null }),
    }
    const entry = { action: 'upload_link.changed', subjectId: id, subjectLabel: row!.title, detail }
    await recordAudit({ db: tx, clock }, actor, entry)
    return toUploadLink(row!, now)
  })
}

/**
 * Also ends uploads in progress. The link's tokens are revoked first, so that none of them stays valid if the process
 * crashes before the link is deleted.
 */
export async function deleteUploadLink(
  runtime: Pick<Runtime, 'db' | 'clock' | 'database'>,
  actor: Actor,
  id: string,
): Promise<void> {
  const { senderId, title } = await findUploadLink(runtime.db, actor, id)
  await revokeSender(runtime, actor, senderId)
  await runtime.db.transaction(async (tx) => {
    const deletedAt = new Date(runtime.clock.now())
    await tx.update(uploadLinks).set({ deletedAt }).where(eq(uploadLinks.id, id))
    const entry = { action: 'upload_link.deleted', subjectId: id, subjectLabel: title }
    await recordAudit({ db: tx, clock: runtime.clock }, actor, entry)
  })
}
