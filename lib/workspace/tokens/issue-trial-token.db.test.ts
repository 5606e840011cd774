import { eq } from 'drizzle-orm'
import { expect, it } from 'vitest'
import { senders, tokens } from '#drizzle/schema/index.ts'
import { describeWithDatabase } from '../../../test/support/databases.ts'
import { testRuntime } from '../../../test/support/runtime.ts'
import { createTestWorkspace } from '../../../test/support/workspace.ts'
import { hashSecret } from '../../platform/kernel/ids.ts'
import { parseInput } from '../../platform/kernel/parse-input.ts'
import { createUploadLink, deleteUploadLink, hashingPassword } from '../../upload-links/manage-links.ts'
import { uploadLinkInput } from '../../upload-links/upload-link.ts'
import { updatePipe } from '../pipes/update-pipe.ts'
import { revokeSender } from '../senders/change-sender.ts'
import { createSender } from '../senders/create-sender.ts'
import { issueTrialToken, TRIAL_SENDER } from './issue-trial-token.ts'

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

  it('does not belong to the Sender of an upload link, which ends with the link', async () => {
    const runtime = testRuntime(database())
    const { actor, pipe, sender } = await createTestWorkspace(runtime)
    await updatePipe(runtime, actor, pipe.id, { source: { http: true } })
    await revokeSender(runtime, actor, sender.id)
    const input = await hashingPassword(
      parseInput(uploadLinkInput, { pipeId: pipe.id, title: 'Films for May' }),
    )
    const link = await createUploadLink(runtime, actor, input)
    const { token } = await issueTrialToken(runtime, actor, pipe.id, { subject: 'me' })
    await deleteUploadLink(runtime, actor, link.id)
    const [issued] = await runtime.db
      .select({ sender: senders.name, revokedAt: senders.revokedAt })
      .from(tokens)
      .innerJoin(senders, eq(senders.id, tokens.senderId))
      .where(eq(tokens.tokenHash, hashSecret(token)))
    expect(issued).toEqual({ sender: TRIAL_SENDER, revokedAt: null })
  })
})
