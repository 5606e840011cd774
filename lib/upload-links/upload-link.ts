import { and, eq, isNull } from 'drizzle-orm'
import { z } from 'zod'
import { uploadLinks } from '#drizzle/schema/index.ts'
import { emailField } from '../identity/accounts/users.ts'
import type { Actor } from '../identity/audit/record-audit.ts'
import type { Db } from '../platform/db/database.ts'
import { SluiceError } from '../platform/kernel/errors.ts'
import { isUuid } from '../platform/kernel/ids.ts'
import { bytesField, nameField, timeField, toAnswer } from '../platform/kernel/parse-input.ts'
import { allowedTypesField } from '../workspace/pipes/pipe.ts'
import { tokenInput } from '../workspace/tokens/token.ts'

const MIN_PASSWORD = 8

export const uploadLinkInput = z.strictObject({
  pipeId: tokenInput.shape.pipeId,
  title: nameField,
  /** Shown to the uploader below the title. */
  message: z.string().max(2000, 'must have at most 2000 characters').default(''),
  password: z
    .string()
    .min(MIN_PASSWORD, `must have at least ${MIN_PASSWORD} characters`)
    .max(1000, 'must have at most 1000 characters')
    .nullable()
    .default(null),
  expiresAt: timeField.nullable().default(null),
  /** Limits for all uploads through this link together. An upload counts as soon as it is created. */
  maxFiles: tokenInput.shape.maxFiles.unwrap().nullable().default(null),
  maxBytes: bytesField.nullable().default(null),
  allowedTypes: allowedTypesField.default([]),
  /** The verified address of a member, who gets an email each time files have arrived. */
  notifyEmail: emailField.nullable().default(null),
  /** Whether visitors can have a receipt sent to them. */
  receipts: z.boolean().default(false),
})
export type UploadLinkInput = z.output<typeof uploadLinkInput>

const { title, message, password, expiresAt, maxFiles, maxBytes, allowedTypes, notifyEmail, receipts } =
  uploadLinkInput.shape

export const uploadLinkChange = z
  .strictObject({
    title,
    message: message.unwrap(),
    password: password.unwrap(),
    expiresAt: expiresAt.unwrap(),
    maxFiles: maxFiles.unwrap(),
    maxBytes: maxBytes.unwrap(),
    allowedTypes: allowedTypes.unwrap(),
    notifyEmail: notifyEmail.unwrap(),
    receipts: receipts.unwrap(),
    closed: z.boolean(),
  })
  .partial()
export type UploadLinkChange = z.output<typeof uploadLinkChange>

const LINK_STATES = ['open', 'closed', 'expired', 'exhausted'] as const
type LinkState = (typeof LINK_STATES)[number]

export const uploadLinkAnswer = z.strictObject({
  id: z.uuid(),
  pipeId: z.string(),
  /** The link's files belong to this Sender: `GET /files?senderId=`. */
  senderId: z.uuid(),
  title: z.string(),
  message: z.string(),
  hasPassword: z.boolean(),
  state: z.enum(LINK_STATES),
  expiresAt: z.iso.datetime().nullable(),
  maxFiles: z.int().nullable(),
  maxBytes: z.int().nullable(),
  allowedTypes: z.array(z.string()),
  notifyEmail: z.string().nullable(),
  receipts: z.boolean(),
  filesCreated: z.int(),
  bytesCreated: z.int(),
  createdAt: z.iso.datetime(),
})
export type UploadLink = z.output<typeof uploadLinkAnswer>
export type UploadLinkRow = typeof uploadLinks.$inferSelect

export const toUploadLink = (row: UploadLinkRow, nowMs: number): UploadLink =>
  toAnswer(uploadLinkAnswer, {
    ...row,
    hasPassword: row.passwordHash !== null,
    state: stateOf(row, nowMs),
  })

export function stateOf(
  row: Pick<
    UploadLinkRow,
    'closedAt' | 'expiresAt' | 'maxFiles' | 'maxBytes' | 'filesCreated' | 'bytesCreated'
  >,
  nowMs: number,
): LinkState {
  if (row.closedAt) return 'closed'
  if (row.expiresAt && row.expiresAt.getTime() <= nowMs) return 'expired'
  const isFull = row.filesCreated >= (row.maxFiles ?? Infinity)
  return isFull || row.bytesCreated >= (row.maxBytes ?? Infinity) ? 'exhausted' : 'open'
}

/** Links in other workspaces are not found. */
export async function findUploadLink(
  db: Db,
  actor: Actor,
  id: string,
  lock?: 'update',
): Promise<UploadLinkRow> {
  const query = db
    .select()
    .from(uploadLinks)
    .where(
      and(
        eq(uploadLinks.id, id),
        eq(uploadLinks.workspaceId, actor.workspaceId),
        isNull(uploadLinks.deletedAt),
      ),
    )
  const [row] = isUuid(id) ? await (lock ? query.for(lock) : query) : []
  if (!row) throw new SluiceError('not_found', 'There is no such upload link.')
  return row
}
