import { may } from '../../identity/rights.ts'
import { readSession } from '../../identity/sessions/read-session.ts'
import { minutes, seconds } from '../../platform/kernel/clock.ts'
import { createBell } from '../../platform/kernel/waits.ts'
import { LIVE_CHANNEL } from '../../platform/live-channel.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { readSnapshot, type Snapshot, type Topic } from './read-snapshot.ts'

/** How often a stream looks by itself. A NOTIFY makes it look at once. */
const POLL_MS = seconds(1)
/** A stream ends by itself and the browser opens the next, so that none outlives its session for long. */
const LIFE_MS = minutes(5)

type Needs = Pick<Runtime, 'db' | 'database' | 'clock' | 'config'>

/** The snapshots of a topic, each only when it differs from the one before. It ends with the session that asked, and with its membership. */
export async function* follow(
  { db, database, clock, config }: Needs,
  { workspaceId, sessionId }: { workspaceId: string; sessionId: string },
  topic: Topic,
  signal: AbortSignal,
  pollMs = POLL_MS,
): AsyncGenerator<Snapshot> {
  const bell = createBell(signal)
  const unlisten = await database.listen(LIVE_CHANNEL, (payload) => {
    if (payload === null || payload === workspaceId) bell.ring()
  })
  const endsAt = clock.now() + LIFE_MS
  try {
    let seen: string | undefined
    while (!signal.aborted && clock.now() < endsAt) {
      const session = await readSession({ db, clock, config }, sessionId)
      if (session?.workspace.id !== workspaceId || !may(session.actor, 'see')) return
      const snapshot = await readSnapshot(db, workspaceId, topic)
      if (snapshot.mark !== seen) yield snapshot
      seen = snapshot.mark
      await bell.wait(pollMs)
    }
  } finally {
    await unlisten()
  }
}
