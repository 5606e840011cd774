import { beforeEach, expect, it } from 'vitest'
import { sessions } from '#drizzle/schema/index.ts'
import { pruneExpired } from '../../../server/control-sweeps.ts'
import { memoryLimitSweep } from '../../../server/limit-memory.ts'
import { nodeSweep, tellOfNode } from '../../../server/tell-of-node.ts'
import { describeWithDatabase } from '../../../test/support/databases.ts'
import { type TestRuntime, testRuntime } from '../../../test/support/runtime.ts'
import { createTestWorkspace, type TestWorkspace } from '../../../test/support/workspace.ts'
import { listUsers } from '../../identity/accounts/administer.ts'
import { listAudit } from '../../identity/audit/list-audit.ts'
import { readSession } from '../../identity/sessions/read-session.ts'
import { createSession } from '../../identity/sessions/sessions.ts'
import { days } from '../../platform/kernel/clock.ts'
import { parseInput } from '../../platform/kernel/parse-input.ts'
import { openMailJob } from '../../platform/mail/mail.ts'
import { MemoryBudget } from '../../upload-memory/memory-budget.ts'
import { issueToken } from '../../workspace/tokens/issue-token.ts'
import { tokenInput } from '../../workspace/tokens/token.ts'
import { reportUsage } from '../../workspace/usage/report-usage.ts'
import { seeBacklogs, seeNodes, seeWorkspace, seeWorkspaces } from './see.ts'
import { liftSuspension, limitWorkspace, suspendWorkspace } from './steer-workspace.ts'

const operator = { userId: '019ad000-0000-7000-8000-000000000000', email: 'ops@example.com' }

describeWithDatabase('an operator', (database) => {
  let runtime: TestRuntime
  let theirs: TestWorkspace
  beforeEach(async () => {
    runtime = testRuntime(database())
    theirs = await createTestWorkspace(runtime)
  })
  const token = () =>
    issueToken(runtime, theirs.sender.token, parseInput(tokenInput, { pipeId: theirs.pipe.id }))

  it("can find workspaces by name or by a member's address, page by page", async () => {
    for (const search of [theirs.email, theirs.email.toUpperCase()]) {
      const { data, next } = await seeWorkspaces(runtime, { search })
      expect(data.map(({ id, owner }) => [id, owner])).toEqual([[theirs.workspaceId, theirs.email]])
      expect(next).toBeNull()
    }
    expect((await seeWorkspaces(runtime, { search: '%' })).data).toEqual([])
    const all = (await seeWorkspaces(runtime, {})).data
    expect((await seeWorkspaces(runtime, { before: all[0]!.id })).data).toEqual(all.slice(1))
    expect((await seeWorkspace(runtime, theirs.workspaceId)).people).toMatchObject([
      { email: theirs.email, role: 'owner', hasSecondFactor: false },
    ])
    await expect(seeWorkspace(runtime, 'nonsense')).rejects.toMatchObject({ code: 'not_found' })
  })

  it('sees when people were last active, even after their sessions are pruned', async () => {
    const seen = async () => (await seeWorkspace(runtime, theirs.workspaceId)).people[0]!.lastSeenAt
    expect(await seen()).toBeNull()
    const { db, clock } = runtime
    const visitor = { userAgent: null, address: null }
    const first = await createSession(runtime, theirs.userId, visitor)
    clock.advance(days(3))
    await readSession(runtime, first.id)
    const lastMs = clock.now()
    clock.advance(days(40))
    await pruneExpired(db, clock.now())
    expect(new Date((await seen())!).getTime()).toBe(lastMs)
    expect((await listUsers(runtime)).find(({ email }) => email === theirs.email)).toMatchObject({
      lastSeenAt: await seen(),
    })
    await createSession(runtime, theirs.userId, visitor)
    expect(new Date((await seen())!).getTime()).toBe(clock.now())
  })

  it('sees the first sign-in of a user whose sessions an older version pruned', async () => {
    await createSession(runtime, theirs.userId, { userAgent: null, address: null })
    await runtime.db.delete(sessions)
    const [person] = (await seeWorkspace(runtime, theirs.workspaceId)).people
    expect(new Date(person!.lastSeenAt!).getTime()).toBe(runtime.clock.now())
  })

  it("can set limits, which apply immediately and are recorded with their author in the workspace's audit log", async () => {
    const limits = { transferLimitBytes: 5, tokensPerSecond: 1, memorySharePercent: 20, maxFileBytes: null }
    await limitWorkspace(runtime, operator, theirs.workspaceId, limits)
    expect(await reportUsage(runtime, theirs.actor, {})).toMatchObject({ limitBytes: 5 })
    await token()
    await token()
    await expect(token()).rejects.toMatchObject({
      code: 'rate_limited',
      message: expect.stringContaining('1 tokens'),
    })
    runtime.clock.advance(1000)
    await token()
    const [line] = (await listAudit(runtime, theirs.actor, { limit: 1 })).data
    expect(line).toMatchObject({
      action: 'workspace.limit_changed',
      actor: { kind: 'operator', label: 'ops@example.com' },
      detail: limits,
    })
  })

  it("can limit a workspace's share of upload memory, even for uploads in progress", async () => {
    const budget = new MemoryBudget(64 * 1024 * 1024, { clock: runtime.clock })
    const [account, other] = [theirs, await createTestWorkspace(runtime)].map(({ workspaceId }) =>
      budget.account({ workspaceId }),
    )
    account!.take(12 * 1024 * 1024)
    const sweep = memoryLimitSweep({ db: runtime.db, budget })
    await sweep.run()
    expect(account!.full).toBe(false)
    const none = { transferLimitBytes: null, tokensPerSecond: null, maxFileBytes: null }
    await limitWorkspace(runtime, operator, theirs.workspaceId, { ...none, memorySharePercent: 20 })
    await sweep.run()
    expect([account!.full, other!.full]).toEqual([true, false])
    await limitWorkspace(runtime, operator, theirs.workspaceId, { ...none, memorySharePercent: null })
    await sweep.run()
    expect(account!.full).toBe(false)
  })

  it('can suspend a workspace with a reason, which its members receive, and lift the suspension', async () => {
    runtime.jobs.length = 0
    await suspendWorkspace(runtime, operator, theirs.workspaceId, { reason: 'The invoice is overdue.' })
    await expect(token()).rejects.toMatchObject({ code: 'workspace_suspended' })
    const [mail] = runtime.jobs.map(({ data }) => openMailJob(runtime, data as { sealed: string }))
    expect(mail).toMatchObject({
      mail: { to: theirs.email, text: expect.stringContaining('The invoice is overdue.') },
    })
    await liftSuspension(runtime, operator, theirs.workspaceId)
    await token()
    const actions = (await listAudit(runtime, theirs.actor, { limit: 2 })).data.map(({ action }) => action)
    expect(actions).toEqual(['workspace.suspension_lifted', 'workspace.suspended'])
  })

  it('sees the nodes, which of them are silent, and the backlog', async () => {
    await nodeSweep(runtime).run()
    const sweep = nodeSweep(runtime)
    await sweep.run()
    runtime.metrics.memoryLimit.set(1000)
    runtime.clock.advance(31_000)
    await sweep.run()
    const nodes = await seeNodes(runtime)
    expect(nodes.map(({ silent }) => silent)).toEqual([true, false])
    expect(nodes[1]).toMatchObject({ roles: ['web', 'upload', 'worker'], uploads: 0, memoryBytes: 1000 })
    runtime.clock.advance(24 * 3_600_000)
    await sweep.run()
    await sweep.run()
    expect(await seeNodes(runtime)).toHaveLength(1)
    const node = tellOfNode(runtime)
    await expect.poll(() => seeNodes(runtime)).toHaveLength(2)
    await node.stop()
    expect(await seeNodes(runtime)).toHaveLength(1)
    expect(await seeBacklogs(runtime)).toContainEqual({
      what: 'Webhook deliveries',
      waiting: 0,
      oldestAt: null,
    })
  })
})
