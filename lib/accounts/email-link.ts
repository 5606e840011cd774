import { randomBytes } from 'node:crypto'
import { and, eq, gt, isNull } from 'drizzle-orm'
import { emailLinks } from '#drizzle/schema/index.ts'
import { hours } from '../kernel/clock.ts'
import { SluiceError } from '../kernel/errors.ts'
import { hashSecret } from '../kernel/ids.ts'
import type { Runtime } from '../runtime.ts'

/** Links of mails: good once and for a while. The token stands after the #, so it reaches no server's log. */
type Purpose = 'verify' | 'reset'
type Needs = Pick<Runtime, 'db' | 'clock' | 'config'>

const GOOD_FOR_MS: Record<Purpose, number> = { verify: hours(48), reset: hours(1) }
const PAGE: Record<Purpose, string> = { verify: 'verify-email', reset: 'reset-password' }

export async function createEmailLink(
  { db, clock, config }: Needs,
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

/** Call it in the transaction of what the link allows. */
export async function useEmailLink(
  { db, clock }: Pick<Runtime, 'db' | 'clock'>,
  purpose: Purpose,
  token: string,
): Promise<{ userId: string; email: string }> {
  const now = new Date(clock.now())
  const [used] = await db
    .update(emailLinks)
    .set({ usedAt: now })
    .where(
      and(
        eq(emailLinks.tokenHash, hashSecret(token)),
        eq(emailLinks.purpose, purpose),
        isNull(emailLinks.usedAt),
        gt(emailLinks.expiresAt, now),
      ),
    )
    .returning({ userId: emailLinks.userId, email: emailLinks.email })
  if (used) return used
  throw new SluiceError('link_invalid', 'This link was used already or is too old. Ask for another.')
}
