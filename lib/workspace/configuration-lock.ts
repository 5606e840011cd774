import { and, eq, lt, or, sql } from 'drizzle-orm'
import { z } from 'zod'
import { configurationLocks } from '#drizzle/schema/index.ts'
import type { Actor } from '../identity/audit/record-audit.ts'
import { seconds } from '../platform/kernel/clock.ts'
import { SluiceError } from '../platform/kernel/errors.ts'
import type { CoreRuntime, Runtime } from '../platform/runtime.ts'

const LOCK_MS = seconds(60)

export const configurationLockInput = z.strictObject({
  holder: z.uuid('must be a UUID that you generate and reuse for renewals'),
})
export const configurationLockAnswer = z.strictObject({ holder: z.uuid(), lockedUntil: z.iso.datetime() })

/**
 * Acquires or renews the lock that prevents two `sluice apply` runs from changing one workspace at the same time. It
 * blocks nothing else: individual changes in the dashboard and through the API remain possible. If its holder is
 * killed, it expires within a minute.
 */
export async function lockConfiguration(
  { db, clock }: CoreRuntime,
  { workspaceId, label }: Actor,
  { holder }: z.output<typeof configurationLockInput>,
): Promise<z.input<typeof configurationLockAnswer>> {
  const now = new Date(clock.now())
  const lockedUntil = new Date(clock.now() + LOCK_MS)
  const isOursOrOver = or(eq(configurationLocks.holder, holder), lt(configurationLocks.lockedUntil, now))
  const [taken] = await db
    .insert(configurationLocks)
    .values({ workspaceId, holder, holderLabel: label, lockedUntil })
    .onConflictDoUpdate({
      target: configurationLocks.workspaceId,
      set: { holder, holderLabel: label, lockedUntil },
      setWhere: isOursOrOver ?? sql`false`,
    })
    .returning()
  if (!taken) throw await lockedByOther({ db }, workspaceId)
  return { holder, lockedUntil: lockedUntil.toISOString() }
}

export async function unlockConfiguration(
  { db }: CoreRuntime,
  { workspaceId }: Actor,
  { holder }: z.output<typeof configurationLockInput>,
): Promise<void> {
  const isOurs = and(eq(configurationLocks.workspaceId, workspaceId), eq(configurationLocks.holder, holder))
  const given = await db.delete(configurationLocks).where(isOurs).returning()
  if (given.length === 0) throw new SluiceError('conflict', 'This run does not hold the lock.')
}

async function lockedByOther({ db }: Pick<Runtime, 'db'>, workspaceId: string): Promise<SluiceError> {
  const [held] = await db
    .select()
    .from(configurationLocks)
    .where(eq(configurationLocks.workspaceId, workspaceId))
  const who = held ? ` by ${held.holderLabel}, until ${held.lockedUntil.toISOString()} at the latest` : ''
  return new SluiceError('conflict', `This workspace is being changed in another run${who}.`)
}
