import { beforeEach, expect, it } from 'vitest'
import { auditLog } from '#drizzle/schema/index.ts'
import { describeWithDatabase } from '../../../test/support/databases.ts'
import { type TestRuntime, testRuntime } from '../../../test/support/runtime.ts'
import { createTestWorkspace, type TestWorkspace } from '../../../test/support/workspace.ts'
import { hours } from '../../platform/kernel/clock.ts'
import { parseInput } from '../../platform/kernel/parse-input.ts'
import { issueToken } from '../tokens/issue-token.ts'
import { tokenInput } from '../tokens/token.ts'
import { limitSender, revokeSender } from './change-sender.ts'
import { createSenders, moveGroup, revokeGroup, rotateGroup } from './many-senders.ts'
import { listSenders } from './read-senders.ts'
import type { IssuedCredential } from './sender.ts'
import { createGroup, deleteGroup, showGroup } from './sender-groups.ts'

describeWithDatabase('Senders in a group', (database) => {
  let runtime: TestRuntime
  let mine: TestWorkspace
  let group: string
  beforeEach(async () => {
    runtime = testRuntime(database())
    mine = await createTestWorkspace(runtime)
    group = (await createGroup(runtime, mine.actor, { name: 'Cameras', silentHours: 2 })).id
  })
  const create = (count: number) => {
    const names = Array.from({ length: count }, (_, n) => `Camera ${n}`)
    return createSenders(runtime, mine.actor, { names, groupId: group })
  }
  const works = ({ token }: IssuedCredential) =>
    issueToken(runtime, token, parseInput(tokenInput, { pipeId: mine.pipe.id })).then(
      () => true,
      (error) => error.code,
    )

  it('are created up to 1,000 at once, all or none', async () => {
    const made = await create(1000)
    expect(new Set(made.map(({ token }) => token)).size).toBe(1000)
    expect(await works(made[999]!)).toBe(true)
    await expect(create(1)).rejects.toMatchObject({ code: 'conflict' })
    await revokeSender(runtime, mine.actor, made[0]!.id)
    expect(await create(1)).toHaveLength(1)
    expect(await showGroup(runtime, mine.actor, group)).toMatchObject({ senderCount: 1000 })
    const [entry] = (await runtime.db.select().from(auditLog)).filter(
      ({ action }) => action === 'sender.created_many',
    )
    expect(JSON.stringify(entry)).not.toContain('sk_')
  })

  it('are rotated together, with an overlap', async () => {
    const made = await create(3)
    const rotated = await rotateGroup(runtime, mine.actor, group, { overlapDays: 1 })
    expect(rotated.map(({ id }) => id).sort()).toEqual(made.map(({ id }) => id).sort())
    expect(await Promise.all([...made, ...rotated].map(works))).toEqual(Array(6).fill(true))
    runtime.clock.advance(hours(24))
    const after = ['token_revoked', 'token_revoked', 'token_revoked', true, true, true]
    expect(await Promise.all([...made, ...rotated].map(works))).toEqual(after)
  })

  it('are moved and revoked together, and no one else is', async () => {
    const [one, two] = (await create(2)) as [IssuedCredential, IssuedCredential]
    const other = (await createGroup(runtime, mine.actor, { name: 'Scanners' })).id
    await limitSender(runtime, mine.actor, two.id, { groupId: other })
    expect(await moveGroup(runtime, mine.actor, group, { groupId: other })).toBe(1)
    await expect(deleteGroup(runtime, mine.actor, other)).rejects.toMatchObject({ code: 'conflict' })
    await deleteGroup(runtime, mine.actor, group)
    expect(await revokeGroup(runtime, mine.actor, other)).toBe(2)
    expect(await Promise.all([one, two, mine.sender].map(works))).toEqual([
      'token_revoked',
      'token_revoked',
      true,
    ])
  })

  it('are listed with those that have been silent for too long first, page by page', async () => {
    const [one] = (await create(5)) as [IssuedCredential]
    runtime.clock.advance(hours(2))
    await works(one)
    const seen: [string, boolean][] = []
    for (let cursor: string | undefined; ; ) {
      const query = { limit: 2, cursor, silentFirst: true }
      const page = await listSenders(runtime, mine.actor, query)
      seen.push(...page.data.map(({ id, isSilent }) => [id, isSilent] as [string, boolean]))
      if (!page.nextCursor) break
      cursor = page.nextCursor
    }
    expect(seen.map(([, isSilent]) => isSilent)).toEqual([true, true, true, true, false, false])
    expect(seen.slice(4).map(([id]) => id)).toEqual([one.id, mine.sender.id])
    expect(await showGroup(runtime, mine.actor, group)).toMatchObject({ senderCount: 5, silentCount: 4 })
    const named = await listSenders(runtime, mine.actor, { limit: 10, name: 'camera 3', groupId: group })
    expect(named.data.map(({ name }) => name)).toEqual(['Camera 3'])
  })
})
