import { expect, it } from 'vitest'
import { describeWithDatabase } from '../../test/support/databases.ts'
import { testRuntime } from '../../test/support/runtime.ts'
import { createTestWorkspace } from '../../test/support/workspace.ts'
import { createSession, revokeSession, signOutEverywhere } from '../identity/sessions/sessions.ts'
import { hours } from '../platform/kernel/clock.ts'
import { follow } from './live.ts'

describeWithDatabase('a live stream', (database) => {
  it.each(['revoked', 'signed out everywhere'])('ends immediately when its session is %s', async (how) => {
    const runtime = testRuntime(database())
    const { workspaceId, userId } = await createTestWorkspace(runtime)
    const { id: sessionId } = await createSession(runtime, userId, { userAgent: null, address: null })
    const left = new AbortController()
    // With an hour between polls, the stream can only end because it is notified.
    const stream = follow(runtime, { workspaceId, sessionId }, 'files', left.signal, hours(1))
    expect((await stream.next()).done).toBe(false)
    const next = stream.next()
    if (how === 'revoked') await revokeSession(runtime, { userId }, sessionId)
    else await signOutEverywhere(runtime, userId)
    expect((await next).done).toBe(true)
    left.abort()
  })
})
