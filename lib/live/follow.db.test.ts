import { expect, it } from 'vitest'
import { describeWithDatabase } from '../../e2e/parts/databases.ts'
import { testRuntime } from '../../e2e/parts/runtime.ts'
import { createTestWorkspace } from '../../e2e/parts/workspace.ts'
import { createSession } from '../sessions/create-session.ts'
import { revokeSession } from '../sessions/revoke-session.ts'
import { signOutEverywhere } from '../sessions/sign-out-everywhere.ts'
import { follow } from './follow.ts'

describeWithDatabase('a live stream', (database) => {
  it.each(['revoked', 'signed out everywhere'])('ends at once when its session is %s', async (how) => {
    const runtime = testRuntime(database())
    const { workspaceId, userId } = await createTestWorkspace(runtime)
    const { id: sessionId } = await createSession(runtime, userId, { userAgent: null, address: null })
    const left = new AbortController()
    const stream = follow(runtime, { workspaceId, sessionId }, 'files', left.signal)
    expect((await stream.next()).done).toBe(false)
    const next = stream.next()
    if (how === 'revoked') await revokeSession(runtime, { userId }, sessionId)
    else await signOutEverywhere(runtime, userId)
    expect((await next).done).toBe(true)
    left.abort()
  })
})
