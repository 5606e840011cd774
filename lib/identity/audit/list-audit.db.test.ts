import { sql } from 'drizzle-orm'
import { beforeEach, expect, it } from 'vitest'
import { describeWithDatabase } from '../../../test/support/databases.ts'
import { type TestRuntime, testRuntime } from '../../../test/support/runtime.ts'
import { createTestWorkspace, type TestWorkspace } from '../../../test/support/workspace.ts'
import { rows } from '../../platform/db/database.ts'
import { hours } from '../../platform/kernel/clock.ts'
import { parseInput } from '../../platform/kernel/parse-input.ts'
import { runRequest } from '../../platform/kernel/request-context.ts'
import { auditQuery, eachAuditLine, listAudit } from './list-audit.ts'
import { type Actor, recordAudit } from './record-audit.ts'

describeWithDatabase('the audit log', (database) => {
  let runtime: TestRuntime
  let mine: TestWorkspace
  let beganMs: number
  beforeEach(async () => {
    runtime = testRuntime(database())
    mine = await createTestWorkspace(runtime)
    runtime.clock.advance(hours(24))
    beganMs = runtime.clock.now()
    const operator: Actor = { ...mine.actor, kind: 'operator', id: null, label: 'ops@example.com' }
    const key: Actor = { ...mine.actor, kind: 'account_key', id: mine.accountKey.id, label: 'CI 100%' }
    await recordAudit(runtime, mine.actor, { action: 'member.invited', subjectLabel: 'guest@example.com' })
    runtime.clock.advance(hours(1))
    await recordAudit(runtime, operator, { action: 'workspace.suspended' })
    runtime.clock.advance(hours(1))
    await recordAudit(runtime, key, { action: 'member.removed', subjectId: mine.userId })
  })
  const at = (passedMs: number) => new Date(beganMs + passedMs).toISOString()
  const found = async (given: object, actor = mine.actor) => {
    const { data } = await listAudit(runtime, actor, parseInput(auditQuery, given))
    return data.map(({ action }) => action)
  }

  it("records the client's address for requested changes, but none for changes made by Sluice itself", async () => {
    const record = (action: string) => recordAudit(runtime, mine.actor, { action })
    await runRequest({ id: 'r', traceparent: undefined, client: '9.9.9.9', notes: {} }, () => record('asked'))
    await record('by itself')
    const { data } = await listAudit(runtime, mine.actor, { limit: 100 })
    const addresses = Object.fromEntries(data.map((line) => [line.action, line.actor.address]))
    expect(addresses).toMatchObject({ asked: '9.9.9.9', 'by itself': null })
  })

  it('can be filtered by action or by kind of action', async () => {
    expect(await found({ action: 'member' })).toEqual(['member.removed', 'member.invited'])
    expect(await found({ action: 'member.invited' })).toEqual(['member.invited'])
    expect(await found({ action: 'mem' })).toEqual([])
    expect(() => parseInput(auditQuery, { action: 'member%' })).toThrow('must be an action')
  })

  it('is searched by one request of a workspace at a time', async () => {
    const { db } = runtime
    const blocked = async () => {
      const query = sql`select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%audit_log%'`
      return (await rows(db, query)).length
    }
    const other = await createTestWorkspace(runtime)
    const searching: Promise<string[]>[] = []
    await db.transaction(async (tx) => {
      await tx.execute(sql`lock table audit_log in access exclusive mode`)
      for (const { actor } of [mine, mine, mine, other]) searching.push(found({ search: 'ops' }, actor))
      await expect.poll(blocked).toBe(2)
      expect(await blocked()).toBe(2)
    })
    expect(await Promise.all(searching)).toEqual([...Array(3).fill(['workspace.suspended']), []])
  })

  it('can be filtered by actor and by target', async () => {
    expect(await found({ actorKind: 'operator' })).toEqual(['workspace.suspended'])
    expect(await found({ search: 'OPS@' })).toEqual(['workspace.suspended'])
    expect(await found({ search: 'guest@example' })).toEqual(['member.invited'])
    expect(await found({ search: mine.accountKey.id, action: 'member' })).toEqual(['member.removed'])
    expect(await found({ search: mine.userId, action: 'member.removed' })).toEqual(['member.removed'])
    // The search text is literal: % and _ do not act as wildcards.
    expect(await found({ search: '100%' })).toEqual(['member.removed'])
    expect(await found({ search: '_PS@' })).toEqual([])
  })

  it('can be filtered by a time range that includes its start but not its end', async () => {
    expect(await found({ createdAfter: at(0), createdBefore: at(hours(1)) })).toEqual(['member.invited'])
    expect(await found({ createdAfter: at(hours(1)) })).toEqual(['member.removed', 'workspace.suspended'])
  })

  it('can be read completely, page by page, and shows nothing from another workspace', async () => {
    const theirs = await createTestWorkspace(runtime)
    expect(await found({ action: 'member' }, theirs.actor)).toEqual([])
    for (let n = 0; n < 150; n++) await recordAudit(runtime, mine.actor, { action: 'pipe.updated' })
    const query = parseInput(auditQuery, { action: 'pipe.updated', limit: 1 })
    const sizes: number[] = []
    for await (const page of eachAuditLine(runtime, mine.actor, query)) sizes.push(page.length)
    expect(sizes).toEqual([100, 50])
  })
})
