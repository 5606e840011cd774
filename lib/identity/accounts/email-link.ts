import { randomBytes } from 'node:crypto'
import { and, eq, gt, isNull } from 'drizzle-orm'
import { emailLinks } from '#drizzle/schema/index.ts'
import type { Db } from '../../platform/db/database.ts'
import { hours } from '../../platform/kernel/clock.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { hashSecret } from '../../platform/kernel/ids.ts'
import type { ConfiguredRuntime, CoreRuntime } from '../../platform/runtime.ts'

type Purpose = 'verify' | 'reset'

const GOOD_FOR_MS: Record<Purpose, number> = { verify: hours(48), reset: hours(1) }
const PAGE: Record<Purpose, string> = { verify: 'verify-email', reset: 'reset-password' }

/** Links in emails can be used once and for a limited time. The token follows the #, so no server logs it. */
export async function createEmailLink(
  { db, clock, config }: ConfiguredRuntime,
  purpose: Purpose,
  user: { id: string; email: string },
): Promise<string> {
  const token = randomBytes(32).toString('base64url')
  await db.insert(emailLinks).values({
    tokenHash: hashSecret(token),
    userId: user.id,
    purpose,
    email: user.email,
    expiresAt: new Date(clock.now() + GOOD_FOR_MS[purpose]),
    createdAt: new Date(clock.now()),
  })
  return `${config.baseUrl}/${PAGE[purpose]}#${token}`
}

/** Checks a link without using it up, so that nobody can trigger expensive work without a valid link. */
export async function findEmailLink(
  { db, clock }: CoreRuntime,
  purpose: Purpose,
  token: string,
): Promise<{ userId: string }> {
  const [found] = await db
    .select({ userId: emailLinks.userId })
    .from(emailLinks)
    .where(isGood(purpose, token, new Date(clock.now())))
  if (found) return found
  throw invalid()
}

/** Uses up a link. Call this in the transaction of the action that the link allows. */
export async function useEmailLink(
  { db, clock }: CoreRuntime,
  purpose: Purpose,
  token: string,
): Promise<{ userId: string; email: string }> {
  const now = new Date(clock.now())
  const [used] = await db
    .update(emailLinks)
    .set({ usedAt: now })
    .where(isGood(purpose, token, now))
    .returning({ userId: emailLinks.userId, email: emailLinks.email })
  if (used) return used
  throw invalid()
}

/** Setting a password invalidates all links for setting one. */
export async function dropResetLinks(db: Db, userId: string): Promise<void> {
  await db.delete(emailLinks).where(and(eq(emailLinks.userId, userId), eq(emailLinks.purpose, 'reset')))
}

function isGood(purpose: Purpose, token: string, now: Date) {
  return and(
    eq(emailLinks.tokenHash, hashSecret(token)),
    eq(emailLinks.purpose, purpose),
    isNull(emailLinks.usedAt),
    gt(emailLinks.expiresAt, now),
  )
}

function invalid(): SluiceError {
  return new SluiceError('link_invalid', 'This link has already been used or has expired. Request a new one.')
}
