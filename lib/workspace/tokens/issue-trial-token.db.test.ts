import { expect, it } from 'vitest'
import { tokens } from '#drizzle/schema/index.ts'
import { describeWithDatabase } from '../../../test/support/databases.ts'
import { testRuntime } from '../../../test/support/runtime.ts'
import { createTestWorkspace } from '../../../test/support/workspace.ts'
import { updatePipe } from '../pipes/update-pipe.ts'
import { createSender } from '../senders/create-sender.ts'
import { issueTrialToken } from './issue-trial-token.ts'

describeWithDatabase('a Try it token', (database) => {
  it('belongs to the same Sender as the previous token, even if another Sender was created in between', async () => {
    const runtime = testRuntime(database())
    const { actor, pipe } = await createTestWorkspace(runtime)
    await updatePipe(runtime, actor, pipe.id, { source: { http: true } })
    await issueTrialToken(runtime, actor, pipe.id, { subject: 'me' })
    await createSender(runtime, actor, { name: 'Another' })
    await issueTrialToken(runtime, actor, pipe.id, { subject: 'me' })
    const issued = await runtime.db.select({ senderId: tokens.senderId }).from(tokens)
    expect(new Set(issued.map(({ senderId }) => senderId)).size).toBe(1)
  })
})
