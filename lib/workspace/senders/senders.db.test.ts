import { eq } from 'drizzle-orm'
import { beforeEach, expect, it } from 'vitest'
import { senders } from '#drizzle/schema/index.ts'
import { describeWithDatabase } from '../../../test/support/databases.ts'
import { type TestRuntime, testRuntime } from '../../../test/support/runtime.ts'
import { createTestWorkspace, type TestWorkspace } from '../../../test/support/workspace.ts'
import { isSluiceError } from '../../platform/kernel/errors.ts'
import { hashSecret } from '../../platform/kernel/ids.ts'
import { parseInput } from '../../platform/kernel/parse-input.ts'
import { listTokens } from '../tokens/given-tokens.ts'
import { issueToken } from '../tokens/issue-token.ts'
import { tokenInput } from '../tokens/token.ts'
import { markExposed, revokeSender, rotateSender, rotateSenderInput } from './change-sender.ts'
import { showSender } from './read-senders.ts'

it.each([-1, 7.5, '1'])('rejects an overlap of %j days', (overlapDays) => {
  expect(() => parseInput(rotateSenderInput, { overlapDays })).toThrow(/overlapDays/)
})

describeWithDatabase('Senders', (database) => {
  let runtime: TestRuntime
  let mine: TestWorkspace
  beforeEach(async () => {
    runtime = testRuntime(database())
    mine = await createTestWorkspace(runtime)
  })
  const works = (token: string) =>
    issueToken(runtime, token, parseInput(tokenInput, { pipeId: mine.pipe.id })).then(
      () => true,
      (error) => (isSluiceError(error) ? error.code : error),
    )

  it("store only their token's hash and last four characters", async () => {
    const [row] = await database().db.select().from(senders).where(eq(senders.id, mine.sender.id))
    expect(row).toMatchObject({
      tokenHash: hashSecret(mine.sender.token),
      tokenLast4: mine.sender.token.slice(-4),
    })
    expect(JSON.stringify(row)).not.toContain(mine.sender.token.slice(3, -4))
  })

  it('replace their token immediately if rotated without an overlap', async () => {
    const { token } = await rotateSender(runtime, mine.actor, mine.sender.id, { overlapDays: 0 })
    expect([await works(mine.sender.token), await works(token)]).toEqual(['token_revoked', true])
  })

  it('end the overlap of an older token when rotated again', async () => {
    const second = await rotateSender(runtime, mine.actor, mine.sender.id, { overlapDays: 7 })
    const third = await rotateSender(runtime, mine.actor, mine.sender.id, { overlapDays: 7 })
    const all = [mine.sender.token, second.token, third.token]
    expect(await Promise.all(all.map(works))).toEqual(['token_invalid', true, true])
  })

  it('show when their token was seen in a browser, until it is rotated', async () => {
    const nowMs = runtime.clock.now()
    await markExposed(runtime.db, mine.sender.token, { origin: 'https://shop.example', nowMs })
    expect(await showSender(runtime, mine.actor, mine.sender.id)).toMatchObject({
      exposedAt: new Date(nowMs).toISOString(),
      exposedOrigin: 'https://shop.example',
    })
    const rotated = await rotateSender(runtime, mine.actor, mine.sender.id, { overlapDays: 1 })
    expect(rotated).toMatchObject({ exposedAt: null, exposedOrigin: null })
  })

  it('are revoked permanently, including tokens still in their overlap', async () => {
    const next = await rotateSender(runtime, mine.actor, mine.sender.id, { overlapDays: 7 })
    const revoked = await revokeSender(runtime, mine.actor, mine.sender.id)
    expect(revoked.revokedAt).not.toBeNull()
    expect(await Promise.all([mine.sender.token, next.token].map(works))).toEqual([
      'token_revoked',
      'token_revoked',
    ])
    const again = rotateSender(runtime, mine.actor, mine.sender.id, { overlapDays: 1 })
    await expect(again).rejects.toMatchObject({ code: 'conflict' })
    runtime.clock.advance(1000)
    // Both tokens were refused in between, which is counted once per second.
    expect(await revokeSender(runtime, mine.actor, mine.sender.id)).toEqual({
      ...revoked,
      refusedCount: 1,
      refusedAt: expect.any(String),
    })
  })

  it('are listed with their temporary tokens revoked once they are revoked', async () => {
    await works(mine.sender.token)
    const revokedAts = async () => {
      const listed = await listTokens(runtime, mine.actor, { limit: 10, senderId: mine.sender.id })
      return listed.data.map((token) => token.revokedAt)
    }
    expect(await revokedAts()).toEqual([null])
    const { revokedAt } = await revokeSender(runtime, mine.actor, mine.sender.id)
    expect(await revokedAts()).toEqual([revokedAt])
  })
})
