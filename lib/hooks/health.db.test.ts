import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { describeWithDatabase } from '../../test/support/databases.ts'
import { type Decider, openDecider } from '../../test/support/decider.ts'
import { type TestRuntime, testRuntime } from '../../test/support/runtime.ts'
import { createTestWorkspace, type TestWorkspace } from '../../test/support/workspace.ts'
import { minutes } from '../platform/kernel/clock.ts'
import { uuidv7 } from '../platform/kernel/ids.ts'
import type { Asked } from '../uploads/upload-context.ts'
import { listOpenAlerts } from '../workspace/notices/alerts.ts'
import { sweepAlerts } from '../workspace/notices/sweep-alerts.ts'
import type { HookInput } from './hook.ts'
import { openHooks } from './open-hooks.ts'
import { listHooks, revealHookSecret, saveHook } from './pipe-hooks.ts'
import { questionSchema } from './question-schemas.ts'
import { testHook } from './test-hook.ts'

describeWithDatabase('a decision hook', (database) => {
  let runtime: TestRuntime
  let mine: TestWorkspace
  let decider: Decider
  beforeAll(async () => {
    decider = await openDecider()
  })
  beforeEach(async () => {
    decider.reset()
    runtime = testRuntime(database(), { ALLOWED_PRIVATE_HOSTS: '*' })
    mine = await createTestWorkspace(runtime)
  })
  afterAll(() => decider?.close())

  const refOf = (hook: string) => ({ pipeId: mine.pipe.id, hook })
  const save = (hook = 'before_create', more: Partial<HookInput> = {}) =>
    saveHook(runtime, mine.actor, refOf(hook), {
      url: decider.url,
      enabled: true,
      timeoutSeconds: 1,
      withoutAnswer: 'allow',
      ...more,
    })
  const ask = () => {
    const token = { senderName: 'Backend', subject: null, metadata: {} }
    const declared = { lengthBytes: 1, filename: 'a', filetype: null, uploadMetadata: {}, protocol: 'tus' }
    const fileId = uuidv7(runtime.clock.now())
    const asked = { fileId, token, pipe: { id: mine.pipe.id }, declared } as unknown as Asked
    return openHooks(runtime, { retryDelaysMs: [] }).beforeCreate(asked)
  }
  const health = async () => (await listHooks(runtime, mine.actor, mine.pipe.id))[0]
  const alerts = async () => {
    await sweepAlerts(runtime)
    return (await listOpenAlerts(runtime, mine.actor)).filter(({ kind }) => kind === 'hook_failing')
  }

  it('counts as failing from its first missing answer until it answers, and raises an alert in the meantime', async () => {
    await save()
    decider.answer = (_, res) => void res.writeHead(500).end()
    await ask()
    const failingSince = new Date(runtime.clock.now()).toISOString()
    expect(await health()).toMatchObject({ failingSince, fault: 'The response had status 500.' })
    runtime.clock.advance(minutes(5))
    expect(await alerts()).toEqual([])
    decider.answer = (_, res) => void res.end('no JSON')
    await ask()
    expect(await health()).toMatchObject({ failingSince, fault: 'The response is not JSON.' })
    runtime.clock.advance(1)
    expect(await alerts()).toMatchObject([
      { subjectId: mine.pipe.id, subject: 'Photos', detail: 'before_create: The response is not JSON.' },
    ])
    decider.answer = () => ({ allow: true })
    await ask()
    expect(await health()).toMatchObject({ failingSince: null, fault: null })
    expect(await alerts()).toEqual([])
  })

  it('no longer counts as failing after its settings are saved', async () => {
    await save()
    decider.answer = (_, res) => void res.writeHead(500).end()
    await ask()
    await save('before_create', { timeoutSeconds: 2 })
    expect(await health()).toMatchObject({ failingSince: null, fault: null })
  })

  it.each([
    ['before_create' as const, { allow: true, filename: 'b.txt' }],
    ['before_complete' as const, { defer: true }],
  ])('%s can be tested, even while it is off', async (hook, answer) => {
    const { secret } = await save(hook, { enabled: false })
    decider.answer = () => answer
    expect(await testHook(runtime, mine.actor, refOf(hook))).toMatchObject({ answer, fault: null })
    questionSchema(hook).parse(decider.questions()[0])
    expect(decider.questions()).toMatchObject([
      { hook, test: true, data: { pipe_id: mine.pipe.id, filename: 'example.txt' } },
    ])
    decider.answer = () => ({ allow: 'yes' })
    expect(await testHook(runtime, mine.actor, refOf(hook))).toMatchObject({
      answer: null,
      fault: 'The response is invalid: allow Invalid input: expected boolean, received string.',
    })
    expect(await health()).toMatchObject({ failingSince: null })
    expect(await revealHookSecret(runtime, mine.actor, refOf(hook))).toBe(secret)
  })

  it('has not answered if its result is nested too deeply to be stored', async () => {
    await save('before_complete')
    const nested = '['.repeat(8000) + ']'.repeat(8000)
    decider.answer = (_, res) => void res.end(`{"allow":true,"result":${nested}}`)
    expect(await testHook(runtime, mine.actor, refOf('before_complete'))).toMatchObject({
      answer: null,
      fault: 'The response is invalid: result must have at most 4096 bytes as JSON.',
    })
  })

  it('cannot be tested by a member of another workspace', async () => {
    await save()
    const other = await createTestWorkspace(runtime)
    await expect(testHook(runtime, other.actor, refOf('before_create'))).rejects.toMatchObject({
      code: 'pipe_not_found',
    })
  })
})
