import { beforeEach, expect, it } from 'vitest'
import { describeWithDatabase } from '../../../test/support/databases.ts'
import { type TestRuntime, testRuntime } from '../../../test/support/runtime.ts'
import { createTestWorkspace, type TestWorkspace } from '../../../test/support/workspace.ts'
import { openMailJob } from '../../platform/mail/mail.ts'
import { markExposed, rotateSender } from '../senders/change-sender.ts'
import { notifyOwners } from './notify-owners.ts'

describeWithDatabase('notices', (database) => {
  let runtime: TestRuntime
  let mine: TestWorkspace
  beforeEach(async () => {
    runtime = testRuntime(database())
    mine = await createTestWorkspace(runtime)
  })

  async function told(): Promise<string[]> {
    runtime.jobs.length = 0
    await notifyOwners(runtime)
    return runtime.jobs.map(({ data }) => {
      const job = openMailJob(runtime, data as { sealed: string })
      return job.kind === 'mail' ? `${job.mail.to}: ${job.mail.subject}` : job.kind
    })
  }
  it('report a Sender token seen in a browser once, and again after a rotation', async () => {
    const seen = { origin: 'https://shop.example', nowMs: runtime.clock.now() }
    const subject = `${mine.email}: The token of the Sender “Backend” was seen in a browser`
    await markExposed(runtime.db, mine.sender.token, seen)
    expect(await told()).toEqual([subject])
    await markExposed(runtime.db, mine.sender.token, seen)
    expect(await told()).toEqual([])
    const { token } = await rotateSender(runtime, mine.actor, mine.sender.id, { overlapDays: 0 })
    await markExposed(runtime.db, token, seen)
    expect(await told()).toEqual([subject])
  })

  it('are sent once, however many nodes run the sweep', async () => {
    await markExposed(runtime.db, mine.sender.token, { origin: null, nowMs: runtime.clock.now() })
    runtime.jobs.length = 0
    await Promise.all([notifyOwners(runtime), notifyOwners(runtime), notifyOwners(runtime)])
    expect(runtime.jobs).toHaveLength(1)
  })
})
