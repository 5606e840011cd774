import { createHash } from 'node:crypto'
import { eq, sql } from 'drizzle-orm'
import { z } from 'zod'
import { linkPages } from '#drizzle/schema/index.ts'
import { type Actor, recordAudit } from '../identity/audit/record-audit.ts'
import { byteaParam, type Db, rows } from '../platform/db/database.ts'
import { invalidRequest } from '../platform/kernel/errors.ts'
import { isText, nameField } from '../platform/kernel/parse-input.ts'
import { addressesHere, currentRequest } from '../platform/kernel/request-context.ts'
import type { CoreRuntime, Runtime } from '../platform/runtime.ts'

/**
 * How the pages of a workspace's upload links look: its name, logo and color instead of Sluice's, and a text. The logo
 * is one of three kinds of image that cannot contain script; SVG can.
 */
export const MAX_LOGO_BYTES = 100 * 1024

/** How their files start, in hexadecimal. */
const LOGO_TYPES = [
  { type: 'image/png', start: /^89504e470d0a1a0a/ },
  { type: 'image/jpeg', start: /^ffd8ff/ },
  { type: 'image/webp', start: /^52494646.{8}57454250/ },
]
const START_BYTES = 12

export const linkPagesChanges = z
  .strictObject({
    /** Shown at the top of each page, instead of Sluice's. */
    name: nameField.nullable(),
    /** The color of buttons and progress. */
    color: z
      .string()
      .regex(/^#[0-9a-fA-F]{6}$/, 'must be a color such as #0b6b7f')
      .nullable(),
    /** Shown at the bottom of each page. */
    text: z.string().max(500, 'must have at most 500 characters'),
  })
  .partial()

export const logoInput = z.strictObject({ image: z.base64('must be Base64') })

export const linkPagesAnswer = z.strictObject({
  name: z.string().nullable(),
  color: z.string().nullable(),
  text: z.string(),
  logoUrl: z.url().nullable(),
})
export type LinkPages = z.output<typeof linkPagesAnswer>

type Needs = Pick<CoreRuntime, 'db' | 'clock'> & Pick<Runtime, 'config'>

export async function readLinkPages(
  { db, config }: Pick<Needs, 'db' | 'config'>,
  workspaceId: string,
): Promise<LinkPages> {
  const { name, color, text, logoDigest } = linkPages
  const [found] = await db
    .select({ name, color, text, logoDigest })
    .from(linkPages)
    .where(eq(linkPages.workspaceId, workspaceId))
  if (!found) return { name: null, color: null, text: '', logoUrl: null }
  const { logoDigest: digest, ...shown } = found
  return { ...shown, logoUrl: digest && `${addressesHere(config).baseUrl}/u/logo/${digest}` }
}

/** Omitted settings stay unchanged. */
export async function changeLinkPages(
  runtime: Needs,
  actor: Actor,
  changes: z.output<typeof linkPagesChanges>,
): Promise<LinkPages> {
  return change(runtime, actor, changes, changes)
}

export async function saveLogo(
  runtime: Needs,
  actor: Actor,
  { image }: z.output<typeof logoInput>,
): Promise<LinkPages> {
  const bytes = Buffer.from(image, 'base64')
  const start = bytes.subarray(0, START_BYTES).toString('hex')
  const logoType = LOGO_TYPES.find((known) => known.start.test(start))?.type
  if (!logoType) throw invalidRequest([{ field: 'image', message: 'must be a PNG, JPEG or WebP image' }])
  if (bytes.length > MAX_LOGO_BYTES)
    throw invalidRequest([{ field: 'image', message: `must have at most ${MAX_LOGO_BYTES / 1024} KiB` }])
  const logoDigest = createHash('sha256').update(bytes).digest('hex')
  return change(runtime, actor, { logo: byteaParam(bytes), logoType, logoDigest }, { logo: logoDigest })
}

export async function removeLogo(runtime: Needs, actor: Actor): Promise<LinkPages> {
  return change(runtime, actor, { logo: null, logoType: null, logoDigest: null }, { logo: null })
}

type Set = Partial<Omit<typeof linkPages.$inferInsert, 'logo'>> & {
  logo?: ReturnType<typeof byteaParam> | null
}

function change(runtime: Needs, actor: Actor, set: Set, detail: Record<string, unknown>): Promise<LinkPages> {
  const { workspaceId } = actor
  const values = { ...set, workspaceId }
  return runtime.db.transaction(async (tx) => {
    await tx
      .insert(linkPages)
      .values(values)
      .onConflictDoUpdate({ target: linkPages.workspaceId, set: values })
    const entry = { action: 'upload_link.pages_changed', subjectId: workspaceId, detail }
    await recordAudit({ db: tx, clock: runtime.clock }, actor, entry)
    return readLinkPages({ ...runtime, db: tx }, workspaceId)
  })
}

/** A logo by the digest in its address. Undefined once no workspace uses it, or only others than the host's. */
export async function findLogo(
  { db }: { db: Db },
  digest: string,
): Promise<{ type: string; bytes: Uint8Array<ArrayBuffer> } | undefined> {
  if (!isText(digest)) return undefined
  const of = currentRequest()?.linkHost?.workspaceId ?? null
  const [found] = await rows<{ type: string; bytes: Uint8Array<ArrayBuffer> }>(
    db,
    sql`select logo_type as type, logo as bytes from link_pages where logo_digest = ${digest}
      and workspace_id = coalesce(${of}::uuid, workspace_id) limit 1`,
  )
  return found
}
