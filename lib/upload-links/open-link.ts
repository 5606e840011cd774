import { and, eq, inArray, isNull, sql } from 'drizzle-orm'
import { z } from 'zod'
import { files, pipes, senders, tokens, uploadLinks } from '#drizzle/schema/index.ts'
import { verifyPassword } from '../identity/accounts/password.ts'
import { assertNotSuspended, notOfDemo } from '../identity/suspension.ts'
import { hours } from '../platform/kernel/clock.ts'
import { isSluiceError, SluiceError } from '../platform/kernel/errors.ts'
import { hashSecret, newSecret, uuidv7 } from '../platform/kernel/ids.ts'
import { addressesHere, currentRequest } from '../platform/kernel/request-context.ts'
import { sendsMail } from '../platform/mail/mail.ts'
import { networkOf, takeForAddress, takeFromLimit } from '../platform/rate-limits.ts'
import type { Runtime } from '../platform/runtime.ts'
import { uploadUrlOf } from '../workspace/pipes/pipe.ts'
import { issuedTokenAnswer } from '../workspace/tokens/token.ts'
import { type LinkPages, readLinkPages } from './link-pages.ts'
import { stateOf, type UploadLinkRow, uploadLinkAnswer } from './upload-link.ts'

export const openLinkInput = z.strictObject({
  code: z.string().max(100),
  /**
   * A secret that the uploader's page creates and stores, so that only this uploader can continue the uploads after a
   * reload.
   */
  visitor: z.string().regex(/^[0-9A-Za-z_-]{43}$/, 'must be 32 random bytes as base64url'),
  password: z.string().max(1000).optional(),
})

export const openLinkAnswer = uploadLinkAnswer
  .pick({ title: true, state: true, hasPassword: true, expiresAt: true, allowedTypes: true })
  .extend({
    /** If the link has a password, empty until it is entered. The title is always shown. */
    message: z.string(),
    /** Whether a receipt can be sent to the visitor. */
    receipts: z.boolean(),
    filesLeft: z.int().nullable(),
    bytesLeft: z.int().nullable(),
    /**
     * Null if the link accepts no uploads, or its password has not been given yet, and this visitor has no uploads to
     * continue.
     */
    upload: issuedTokenAnswer.extend({ mayCreate: z.boolean() }).nullable(),
  })

/** The limit for unknown codes. */
const GUESSES = { burst: 30, refillMs: 10_000 }
/** The limit for passwords, per link and network, so that nobody can lock out a link's other visitors. */
const PASSWORDS = { burst: 10, refillMs: 30_000 }
/** The limit for tokens, per link and network. */
const TOKENS = { burst: 120, refillMs: 5_000 }
const TOKEN_MS = hours(1)

/** A link without allowed types accepts those of its Pipe. */
type OpenedRow = UploadLinkRow & { pipeTypes: string[] }
type LinkRuntime = Pick<Runtime, 'db' | 'clock' | 'config'>
type Answer = z.input<typeof openLinkAnswer>
/** Shown to anyone who has the code; `pages` is how the workspace's link pages look. */
type Shown = Omit<Answer, 'upload'>
export type ShownLink = Shown & { pages: LinkPages }

/**
 * Returns what a link's visitor sees and may do. An open link gives visitors with its password a token that creates
 * uploads. A visitor with uploads in progress always gets a token that continues them and creates none, without the
 * password, so that neither a reload nor closing the link ends them.
 */
export async function openLink(
  runtime: LinkRuntime,
  { code, visitor, password }: z.output<typeof openLinkInput>,
  address: string,
): Promise<Answer> {
  const row = await linkOf(runtime, code, address)
  const { state } = show(row, runtime)
  const subject = subjectOf(visitor)
  const mayCreate = state === 'open' && (await knowsPassword(runtime, row, password, address))
  const mayUpload = mayCreate || (await hasBegun(runtime, row, subject))
  const upload = mayUpload ? await issue(runtime, row, { subject, mayCreate, address }) : null
  return { ...show(row, runtime, upload !== null), upload }
}

/** Files belong to the visitor who has this subject's secret. */
export const subjectOf = (visitor: string) => `link:${hashSecret(visitor)}`

/** What the link's page shows before its script opens the link. */
export async function lookAtLink(runtime: LinkRuntime, code: string, address: string): Promise<ShownLink> {
  const row = await linkOf(runtime, code, address)
  return { ...show(row, runtime), pages: await readLinkPages(runtime, row.workspaceId) }
}

function show(row: OpenedRow, { clock, config }: LinkRuntime, mayUpload = false): Shown {
  const left = (most: number | null, used: number) => (most === null ? null : Math.max(0, most - used))
  const hasPassword = row.passwordHash !== null
  return {
    title: row.title,
    message: hasPassword && !mayUpload ? '' : row.message,
    state: stateOf(row, clock.now()),
    hasPassword,
    expiresAt: row.expiresAt?.toISOString() ?? null,
    allowedTypes: row.allowedTypes.length > 0 ? row.allowedTypes : row.pipeTypes,
    receipts: row.receipts && sendsMail(config),
    filesLeft: left(row.maxFiles, row.filesCreated),
    bytesLeft: left(row.maxBytes, row.bytesCreated),
  }
}

/** Finds a link by its code. An unknown code counts as a guess. */
export async function linkOf(runtime: LinkRuntime, code: string, address: string): Promise<OpenedRow> {
  const row = await findByCode(runtime, code)
  if (row) return row
  await takeForAddress(runtime, 'upload-link', address, GUESSES)
  throw noLink()
}

/**
 * Returns undefined for a link whose Pipe is deleted, or whose workspace is suspended, as for an unknown code. On a
 * workspace's own host, the links of others are unknown, too.
 */
async function findByCode({ db, config }: LinkRuntime, code: string): Promise<OpenedRow | undefined> {
  const linkHost = currentRequest()?.linkHost
  const [found] = await db
    .select({ link: uploadLinks, pipeTypes: pipes.allowedTypes })
    .from(uploadLinks)
    .innerJoin(pipes, and(eq(pipes.id, uploadLinks.pipeId), isNull(pipes.deletedAt)))
    .innerJoin(senders, and(eq(senders.id, uploadLinks.senderId), isNull(senders.revokedAt)))
    .where(
      and(
        eq(uploadLinks.codeHash, hashSecret(code)),
        isNull(uploadLinks.deletedAt),
        linkHost && eq(uploadLinks.workspaceId, linkHost.workspaceId),
        notOfDemo(config, sql`${uploadLinks.workspaceId}`),
      ),
    )
  if (!found) return undefined
  try {
    await assertNotSuspended(db, found.link.workspaceId)
    return { ...found.link, pipeTypes: found.pipeTypes }
  } catch (error) {
    if (isSluiceError(error)) return undefined
    throw error
  }
}

/** False if no password was given. Attempts are counted before the expensive comparison of passwords. */
async function knowsPassword(
  runtime: LinkRuntime,
  { id, passwordHash }: UploadLinkRow,
  password: string | undefined,
  address: string,
): Promise<boolean> {
  if (passwordHash === null) return true
  if (password === undefined) return false
  await takeForAddress(runtime, `upload-link-password:${id}`, address, PASSWORDS)
  if (await verifyPassword(password, passwordHash)) return true
  throw new SluiceError('forbidden', "The upload link's password is wrong.")
}

async function hasBegun({ db }: LinkRuntime, { senderId }: UploadLinkRow, subject: string): Promise<boolean> {
  const underWay = and(
    eq(files.senderId, senderId),
    eq(files.subject, subject),
    // A file that is waiting for a decision is `transferring`, and its client must learn the outcome.
    inArray(files.status, ['uploading', 'transferring']),
  )
  const found = await db.select({ id: files.id }).from(files).where(underWay).limit(1)
  return found.length > 0
}

async function issue(
  runtime: LinkRuntime,
  link: UploadLinkRow,
  { subject, mayCreate, address }: { subject: string; mayCreate: boolean; address: string },
): Promise<Answer['upload']> {
  const { db, clock, config } = runtime
  await takeFromLimit(runtime, `upload-link-token:${link.id}:${networkOf(address)}`, TOKENS)
  const token = newSecret('tmp_')
  const now = clock.now()
  const expiresAt = new Date(now + TOKEN_MS)
  await db.insert(tokens).values({
    id: uuidv7(now),
    workspaceId: link.workspaceId,
    pipeId: link.pipeId,
    senderId: link.senderId,
    linkId: link.id,
    tokenHash: hashSecret(token),
    subject,
    maxFiles: mayCreate ? null : 0,
    allowedTypes: link.allowedTypes,
    expiresAt,
    createdAt: new Date(now),
  })
  const uploadUrl = uploadUrlOf(addressesHere(config), link.pipeId)
  return { token, expiresAt: expiresAt.toISOString(), pipeId: link.pipeId, uploadUrl, mayCreate }
}

function noLink(): SluiceError {
  return new SluiceError(
    'not_found',
    'There is no such upload link. Ask the person who sent it to you for a new one.',
  )
}
