import { eq } from 'drizzle-orm'
import { TOTP } from 'otpauth'
import { beforeEach, expect, it } from 'vitest'
import { secondFactors, workspaces } from '#drizzle/schema/index.ts'
import { describeWithDatabase } from '../../../test/support/databases.ts'
import { type TestRuntime, testRuntime } from '../../../test/support/runtime.ts'
import { createTestWorkspace, type TestWorkspace } from '../../../test/support/workspace.ts'
import { seconds } from '../../platform/kernel/clock.ts'
import { openMailJob } from '../../platform/mail/mail.ts'
import { type Person, readSession, readStanding } from '../sessions/read-session.ts'
import { createSession } from '../sessions/sessions.ts'
import { requireSecondFactor } from '../workspaces/workspaces.ts'
import {
  beginSecondFactor,
  countRecoveryCodes,
  disableSecondFactor,
  enableSecondFactor,
  giveSecondFactor,
} from './second-factor.ts'

describeWithDatabase('the second factor', (database) => {
  let runtime: TestRuntime
  let mine: TestWorkspace
  beforeEach(async () => {
    runtime = testRuntime(database())
    mine = await createTestWorkspace(runtime)
  })

  async function signIn(): Promise<string> {
    return (await createSession(runtime, mine.userId, { userAgent: null, address: null })).id
  }
  const stateOf = async (id: string) => (await readStanding(runtime, id))?.state
  async function personOf(id: string): Promise<Person> {
    const standing = await readStanding(runtime, id)
    return standing!.state === 'in' ? standing!.session : standing!.person
  }
  const codeOf = (secret: string) => new TOTP({ secret }).generate({ timestamp: runtime.clock.now() })
  const subjects = () =>
    runtime.jobs.map(
      ({ data }) =>
        (openMailJob(runtime, data as { sealed: string }) as { mail: { subject: string } }).mail.subject,
    )

  async function enabled() {
    const id = await signIn()
    const person = await personOf(id)
    const { secret, svg } = await beginSecondFactor(runtime, person)
    const codes = await enableSecondFactor(runtime, person, codeOf(secret))
    return { id, person, secret, svg, codes }
  }

  it('shows recovery codes only once if two requests switch it on at the same time', async () => {
    const person = await personOf(await signIn())
    const { secret } = await beginSecondFactor(runtime, person)
    const enable = () => enableSecondFactor(runtime, person, codeOf(secret))
    const outcomes = await Promise.allSettled([enable(), enable()])
    const shown = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))
    expect(shown).toHaveLength(1)
    const again = await personOf(await signIn())
    await giveSecondFactor(runtime, again, shown[0]![0]!)
  })

  it('is switched on by the first correct code, after which every other session requires a code', async () => {
    const before = await signIn()
    const id = await signIn()
    const person = await personOf(id)
    const { secret, svg } = await beginSecondFactor(runtime, person)
    expect(svg).toMatch(/^<svg/)
    const wrong = enableSecondFactor(runtime, person, '000000')
    await expect(wrong).rejects.toMatchObject({ fields: [{ field: 'code' }] })
    expect(await stateOf(before)).toBe('in')
    const codes = await enableSecondFactor(runtime, person, codeOf(secret))
    expect(new Set(codes).size).toBe(10)
    expect(await stateOf(id)).toBe('in')
    expect(await stateOf(before)).toBe('code_due')
    expect(await readSession(runtime, before)).toBeUndefined()
    const [row] = await runtime.db.select().from(secondFactors).where(eq(secondFactors.userId, mine.userId))
    for (const kept of [row!.secret, ...row!.recoveryHashes]) expect([secret, ...codes]).not.toContain(kept)
    expect(subjects()).toContain('A second factor was added to your account')
  })

  it('accepts each code only once across sessions and simultaneous requests', async () => {
    const { secret } = await enabled()
    runtime.clock.advance(seconds(30))
    const [one, other] = [await signIn(), await signIn()]
    const code = codeOf(secret)
    const give = async (id: string) => giveSecondFactor(runtime, await personOf(id), code)
    const outcomes = await Promise.allSettled([give(one), give(other)])
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect([await stateOf(one), await stateOf(other)].sort()).toEqual(['code_due', 'in'])
    await expect(give(one)).rejects.toMatchObject({ fields: [{ field: 'code' }] })
  })

  it('accepts each recovery code only once, whatever its spacing and letter case', async () => {
    const { codes } = await enabled()
    const id = await signIn()
    const typed = `${codes[0]!.slice(0, 5)}-${codes[0]!.slice(5)} `.toUpperCase()
    await giveSecondFactor(runtime, await personOf(id), typed)
    expect(await stateOf(id)).toBe('in')
    expect(await countRecoveryCodes(runtime, mine.userId)).toBe(9)
    const again = giveSecondFactor(runtime, await personOf(await signIn()), codes[0]!)
    await expect(again).rejects.toMatchObject({ fields: [{ field: 'code' }] })
  })

  it('limits attempts, is locked after a hundred wrong codes with an email to its owner, and is unlocked by a recovery code', async () => {
    const { secret, codes } = await enabled()
    const id = await signIn()
    const person = await personOf(id)
    let refused = 0
    for (let wrong = 0; wrong < 100; ) {
      const outcome = await giveSecondFactor(runtime, person, '000000').catch((error) => error)
      if (outcome.code === 'rate_limited') refused++
      else wrong++
      if (outcome.code === 'rate_limited') runtime.clock.advance(seconds(30))
    }
    expect(refused).toBeGreaterThan(90)
    expect(subjects().filter((subject) => /many wrong codes/.test(subject))).toHaveLength(1)
    runtime.clock.advance(seconds(300))
    const right = giveSecondFactor(runtime, person, codeOf(secret))
    await expect(right).rejects.toMatchObject({ fields: [{ message: expect.stringContaining('recovery') }] })
    await giveSecondFactor(runtime, person, codes[3]!)
    expect(await stateOf(id)).toBe('in')
    runtime.clock.advance(seconds(300))
    const next = await signIn()
    await giveSecondFactor(runtime, await personOf(next), codeOf(secret))
    expect(await stateOf(next)).toBe('in')
  })

  it('can only be switched off with a code', async () => {
    const { person, secret } = await enabled()
    await expect(disableSecondFactor(runtime, person, '000000')).rejects.toMatchObject({
      code: 'invalid_request',
    })
    runtime.clock.advance(seconds(30))
    await disableSecondFactor(runtime, person, codeOf(secret))
    expect(await stateOf(await signIn())).toBe('in')
    expect(subjects()).toContain('The second factor was removed from your account')
  })

  it('can be required by a workspace, which then rejects all sessions without one, even existing ones', async () => {
    const before = await signIn()
    const session = (await readSession(runtime, before))!
    await expect(requireSecondFactor(runtime, session, true)).rejects.toMatchObject({ code: 'conflict' })
    await runtime.db
      .update(workspaces)
      .set({ requireSecondFactor: true })
      .where(eq(workspaces.id, mine.workspaceId))
    expect(await stateOf(before)).toBe('factor_due')
    expect(await readSession(runtime, before)).toBeUndefined()
    const { id } = await enabled()
    expect(await stateOf(id)).toBe('in')
    expect(await stateOf(before)).toBe('code_due')
    await requireSecondFactor(runtime, (await readSession(runtime, id))!, false)
  })
})
