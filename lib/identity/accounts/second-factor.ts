import { randomInt } from 'node:crypto'
import { and, eq, isNull, sql } from 'drizzle-orm'
import { Secret, TOTP } from 'otpauth'
import { renderSVG } from 'uqr'
import { secondFactors, sessions } from '#drizzle/schema/index.ts'
import { type Db, rows } from '../../platform/db/database.ts'
import { seconds } from '../../platform/kernel/clock.ts'
import { invalidRequest, SluiceError } from '../../platform/kernel/errors.ts'
import { hashSecret } from '../../platform/kernel/ids.ts'
import { enqueueMail } from '../../platform/mail/mail.ts'
import { takeFromLimit } from '../../platform/rate-limits.ts'
import type { MailingRuntime, Runtime } from '../../platform/runtime.ts'
import { recordForPerson } from '../audit/record-audit.ts'
import type { Person } from '../sessions/read-session.ts'
import { tellStreams } from '../sessions/sessions.ts'
import { secondFactorMail } from './mails.ts'

/**
 * The second factor: time-based codes (TOTP, RFC 6238), and ten recovery codes. It belongs to the user, who enters a
 * code once in each session, no matter how they signed in; until then, the session cannot open a workspace. Each code
 * is accepted only once, because the statement that accepts it records its time step. After a hundred wrong codes, only
 * a recovery code works.
 */
const STEP_MS = seconds(30)
/** The previous and next codes are also accepted, to tolerate clock differences. */
const WINDOW = 1
const RECOVERY_CODES = 10
const RECOVERY_LENGTH = 10
/** Excludes characters that look alike. */
const ALPHABET = 'abcdefghjkmnpqrstuvwxyz23456789'
const MOST_WRONG = 100
const PER_USER = { burst: 5, refillMs: 30_000 }

export const secondFactorContext = (userId: string) => `second-factor:${userId}`

/** The secret for an authenticator, as a QR code, and as text for authenticators that cannot scan. */
export type FactorSetup = { svg: string; secret: string }

/** Starts the setup. No codes are required until the first one shows that the authenticator has the secret. */
export async function beginSecondFactor(
  { db, clock, vault }: Pick<MailingRuntime, 'db' | 'clock' | 'vault'>,
  { userId, email }: Pick<Person, 'userId' | 'email'>,
): Promise<FactorSetup> {
  const { base32 } = new Secret({ size: 20 })
  const secret = vault.seal(base32, secondFactorContext(userId))
  const fresh = { secret, lastStep: 0, wrongCodes: 0, createdAt: new Date(clock.now()) }
  const written = await db
    .insert(secondFactors)
    .values({ userId, ...fresh })
    .onConflictDoUpdate({
      target: secondFactors.userId,
      set: fresh,
      setWhere: isNull(secondFactors.enabledAt),
    })
    .returning({ userId: secondFactors.userId })
  if (written.length === 0) throw new SluiceError('conflict', 'You already have a second factor.')
  return { svg: renderSVG(totp(base32, email).toString(), { border: 2 }), secret: base32 }
}

/**
 * Completes the setup. Every other session then also requires a code. Only this response contains the recovery codes.
 */
export async function enableSecondFactor(
  runtime: MailingRuntime,
  person: Person,
  code: string,
): Promise<string[]> {
  const { db, clock } = runtime
  await takeFromLimit(runtime, `second-factor:${person.userId}`, PER_USER)
  const row = await find(db, person.userId)
  if (!row || row.enabledAt) throw new SluiceError('conflict', 'Start the setup again.')
  const step = stepOf(runtime, person, row.secret, code)
  if (step === undefined) throw wrong('is not the code that your authenticator shows now')
  const codes = Array.from({ length: RECOVERY_CODES }, newRecoveryCode)
  await db.transaction(async (tx) => {
    const now = new Date(clock.now())
    const recoveryHashes = codes.map(hashSecret)
    const enabled = await tx
      .update(secondFactors)
      .set({ enabledAt: now, lastStep: step, recoveryHashes, wrongCodes: 0, lockedAt: null })
      .where(and(eq(secondFactors.userId, person.userId), isNull(secondFactors.enabledAt)))
      .returning({ userId: secondFactors.userId })
    // If two requests finish at the same time, only one of them returns recovery codes, which are the valid ones.
    if (enabled.length === 0) throw new SluiceError('conflict', 'You already have a second factor.')
    await tx.update(sessions).set({ secondFactorAt: now }).where(eq(sessions.id, person.id))
    await tell({ ...runtime, db: tx }, person, 'on')
    await recordForPerson({ db: tx, clock }, person, { action: 'second_factor.turned_on' })
    await tellStreams(tx, person.userId)
  })
  return codes
}

/** Accepts a code from the authenticator or a recovery code, which is then used up. */
export async function giveSecondFactor(runtime: MailingRuntime, person: Person, code: string): Promise<void> {
  await assertCode(runtime, person, code)
  const secondFactorAt = new Date(runtime.clock.now())
  await runtime.db.update(sessions).set({ secondFactorAt }).where(eq(sessions.id, person.id))
}

export async function disableSecondFactor(
  runtime: MailingRuntime,
  person: Person,
  code: string,
): Promise<void> {
  await assertCode(runtime, person, code)
  await runtime.db.transaction(async (tx) => {
    await tx.delete(secondFactors).where(eq(secondFactors.userId, person.userId))
    await tell({ ...runtime, db: tx }, person, 'off')
    const inTx = { db: tx, clock: runtime.clock }
    await recordForPerson(inTx, person, { action: 'second_factor.turned_off' })
  })
}

export async function countRecoveryCodes({ db }: Pick<Runtime, 'db'>, userId: string): Promise<number> {
  return (await find(db, userId))?.recoveryHashes.length ?? 0
}

async function assertCode(runtime: MailingRuntime, person: Person, given: string): Promise<void> {
  const code = given.toLowerCase().replaceAll(/[\s-]/g, '')
  await takeFromLimit(runtime, `second-factor:${person.userId}`, PER_USER)
  const row = await find(runtime.db, person.userId)
  if (!row?.enabledAt) throw new SluiceError('conflict', 'You have no second factor.')
  if (code.length === RECOVERY_LENGTH) {
    if (await takeRecoveryCode(runtime.db, person.userId, code)) return
  } else if (!row.lockedAt) {
    const step = stepOf(runtime, person, row.secret, code)
    if (step !== undefined && (await takeStep(runtime.db, person.userId, step))) return
  }
  throw await noteWrong(runtime, person)
}

/** Returns false if this code, or a later one, was accepted before. */
async function takeStep(db: Db, userId: string, step: number): Promise<boolean> {
  const taken = await rows(
    db,
    sql`update second_factors set last_step = ${step}::bigint, wrong_codes = 0
      where user_id = ${userId}::uuid and last_step < ${step}::bigint and locked_at is null returning 1`,
  )
  return taken.length > 0
}

async function takeRecoveryCode(db: Db, userId: string, code: string): Promise<boolean> {
  const taken = await rows(
    db,
    sql`update second_factors set recovery_hashes = array_remove(recovery_hashes, ${hashSecret(code)}),
        wrong_codes = 0, locked_at = null
      where user_id = ${userId}::uuid and ${hashSecret(code)} = any(recovery_hashes) returning 1`,
  )
  return taken.length > 0
}

async function noteWrong(runtime: MailingRuntime, person: Person): Promise<SluiceError> {
  const now = new Date(runtime.clock.now()).toISOString()
  return runtime.db.transaction(async (tx) => {
    const [row] = await rows<{ wrong: number; locked: boolean }>(
      tx,
      sql`update second_factors set wrong_codes = wrong_codes + 1,
          locked_at = case when wrong_codes + 1 >= ${MOST_WRONG} then coalesce(locked_at, ${now}::timestamptz) else locked_at end
        where user_id = ${person.userId}::uuid returning wrong_codes as wrong, locked_at is not null as locked`,
    )
    if (row?.wrong === MOST_WRONG) await tell({ ...runtime, db: tx }, person, 'locked')
    if (row?.locked)
      return wrong('is not accepted after too many wrong codes. Use one of your recovery codes to unlock it')
    return wrong('is wrong, or has already been used')
  })
}

const wrong = (message: string) => invalidRequest([{ field: 'code', message }])

async function find(db: Db, userId: string) {
  const [row] = await db
    .select()
    .from(secondFactors)
    .where(and(eq(secondFactors.userId, userId)))
  return row
}

function stepOf(
  { clock, vault }: Pick<MailingRuntime, 'clock' | 'vault'>,
  { userId, email }: Pick<Person, 'userId' | 'email'>,
  sealed: string,
  token: string,
): number | undefined {
  const timestamp = clock.now()
  const secret = vault.open(sealed, secondFactorContext(userId))
  const delta = totp(secret, email).validate({
    token: token.replaceAll(/\s/g, ''),
    timestamp,
    window: WINDOW,
  })
  return delta === null ? undefined : Math.floor(timestamp / STEP_MS) + delta
}

function totp(secret: string, label: string): TOTP {
  return new TOTP({ issuer: 'Sluice', label, secret, period: STEP_MS / 1000 })
}

function newRecoveryCode(): string {
  return Array.from({ length: RECOVERY_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')
}

async function tell(
  inTx: MailingRuntime & { db: Db },
  { email }: Person,
  what: 'on' | 'off' | 'locked',
): Promise<void> {
  const mail = secondFactorMail(email, what, inTx.config.baseUrl)
  await enqueueMail(inTx, inTx.db, { kind: 'mail', mail })
}
