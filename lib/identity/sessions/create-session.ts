import { sessions } from '#drizzle/schema/index.ts'
import { days } from '../../platform/kernel/clock.ts'
import { uuidv7 } from '../../platform/kernel/ids.ts'
import type { Runtime } from '../../platform/runtime.ts'

export const SESSION_MS = days(30)
const MAX_USER_AGENT = 300

export type Visitor = { userAgent: string | null; address: string | null }

export async function createSession(
  { db, clock }: Pick<Runtime, 'db' | 'clock'>,
  userId: string,
  { userAgent, address }: Visitor,
): Promise<{ id: string; expiresAt: Date }> {
  const now = new Date(clock.now())
  const session = { id: uuidv7(clock.now()), expiresAt: new Date(clock.now() + SESSION_MS) }
  const cleaned = userAgent?.replace(/\p{Cc}/gu, ' ').slice(0, MAX_USER_AGENT) ?? null
  await db
    .insert(sessions)
    .values({ ...session, userId, userAgent: cleaned, address, createdAt: now, lastSeenAt: now })
  return session
}
