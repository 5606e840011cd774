import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import { Lately } from '../kernel/lately.ts'
import type { Logger } from '../log/log.ts'
import { type Db, rows } from './database.ts'

/**
 * The commits that this process has recently acknowledged. If a standby is promoted without its primary's last commits,
 * this process repeats them, because no other process knows about them. Each commit can check whether it is missing.
 * Only a limited number of commits is kept, for a limited time, so if the standby was further behind, the older ones
 * cannot be repeated. The time does not include outages: a standby may be promoted long after its primary has failed.
 */
export type RecentCommits = ReturnType<typeof createRecentCommits>

/** The order in which commits are repeated: a file needs its token, and the end of a file needs the file. */
const KINDS = ['access', 'creation', 'end'] as const
/** An `object` commit involves a bucket and may take a long time, so it is repeated independently of the others. */
export type CommitKind = (typeof KINDS)[number] | 'object'
/** Repeats the commit if it is missing; throws if that is not possible yet. */
export type Redo = (db: Db) => Promise<'made again' | 'is there'>
type Commit = { kind: CommitKind; redo: Redo }
type FirstStep = (db: Db) => Promise<void>

const AT_ONCE = 4
/**
 * How long to wait for other processes to repeat their commits, because a client may request something from this
 * process that only another process remembers.
 */
const GRACE_MS = 500
const GRACE_STEPS = 5
/** After this time, even a process that discovered the new server late or has many commits to repeat is done. */
const SETTLED_AFTER_MS = 10_000
/** The lease of a dead process, or a commit that another process must repeat first, may block a commit for a while. */
const PAUSE_MS = 1000
const GIVE_UP_MS = 60_000

export function createRecentCommits(clock: () => number = () => performance.now()) {
  const { now, stop, start } = stoppable(clock)
  const commits = new Lately<Commit>(now)
  let settledAtMs = 0
  /** Set while commits are being repeated on a server that may be missing some. */
  let pending: { add(commit: Commit): unknown } | undefined
  /** What the newest call of `redo` still has to repeat. */
  let newest = new Set<Commit>()
  const firstSteps = new Set<FirstStep>()

  return {
    note(kind: CommitKind, redo: Redo): void {
      commits.add({ kind, redo })
    },
    /** Notes a commit that was refused, perhaps because an earlier commit was lost. */
    doubt(kind: CommitKind, redo: Redo): void {
      pending?.add({ kind, redo })
    },
    /** Adds a step that must be done before any commit is repeated. A failed step is retried. */
    first(step: FirstStep): void {
      firstSteps.add(step)
    },
    /** While the database is down, commits do not become too old, and no time for repeating them passes. */
    outageBegan: stop,
    outageEnded: start,
    /** True while another process may still restore a missing row that only that process remembers. */
    isSettling: (): boolean => now() < settledAtMs,
    /**
     * Repeats the commits that a different server is missing. Resolves when each has been tried, so that the next
     * request to this process finds them; `later` retries those that failed, and resolves when it is done. Ends the
     * previous call and takes over what it had left, so that a server that keeps crashing does not add up loops.
     */
    async redo(db: Db, log: Logger): Promise<{ later(): Promise<void> }> {
      const work = createWork(db, takeAll(newest), now)
      newest = work.left
      // Until the first steps are done, refused commits only wait.
      pending = work.left
      const isOver = () => newest !== work.left
      settledAtMs = now() + SETTLED_AFTER_MS
      let first = await doFirst(db, [...firstSteps])
      if (!isOver()) {
        work.add([...work.left, ...commits.all()])
        pending = { add: (commit) => work.add([commit]) }
      }
      await work.redoAll()
      const tryAgain = async (pauseMs: number) => {
        await sleep(pauseMs)
        if (isOver()) return
        first = await doFirst(db, first)
        await work.redoAll()
      }
      for (let steps = 0; steps < GRACE_STEPS; steps++) await tryAgain(GRACE_MS / GRACE_STEPS)
      work.tell(log, [...work.left].filter((commit) => !isObject(commit)).length)
      return {
        async later() {
          for (const untilMs = now() + GIVE_UP_MS; !isOver() && now() < untilMs; ) await tryAgain(PAUSE_MS)
          if (!isOver()) pending = undefined
          await work.objectsDone()
          work.tell(log, work.left.size)
          work.left.clear()
        },
      }
    },
  }
}

/** A clock that can be stopped for a while. */
function stoppable(clock: () => number) {
  let stoppedAtMs: number | undefined
  let missedMs = 0
  return {
    now: () => (stoppedAtMs ?? clock()) - missedMs,
    stop() {
      stoppedAtMs ??= clock()
    },
    start() {
      if (stoppedAtMs !== undefined) missedMs += clock() - stoppedAtMs
      stoppedAtMs = undefined
    },
  }
}

/** Returns the steps that failed, for example because of a deadlock with another process that is doing the same. */
async function doFirst(db: Db, steps: FirstStep[]): Promise<FirstStep[]> {
  const failed: FirstStep[] = []
  for (const step of steps) await step(db).catch(() => failed.push(step))
  return failed
}

function takeAll(from: Set<Commit>): Set<Commit> {
  const taken = new Set(from)
  from.clear()
  return taken
}

type Work = { left: Set<Commit>; counts: Record<CommitKind, number> }

/** Commits are removed from `left` once they have been repeated, or when a newer call of `redo` takes them over. */
function createWork(db: Db, left: Set<Commit>, now: () => number) {
  const counts = { access: 0, creation: 0, end: 0, object: 0 }
  const objects: Promise<void>[] = []
  let told = 0
  return {
    left,
    add(some: Commit[]): void {
      for (const commit of some) left.add(commit)
      objects.push(redoObjects(db, some.filter(isObject), { left, counts, now }))
    },
    async redoAll(): Promise<void> {
      for (const kind of KINDS) {
        const some = [...left].filter((commit) => commit.kind === kind)
        await redoEach(db, some, { left, counts })
      }
    },
    objectsDone: () => Promise.all(objects),
    tell(log: Logger, notYet: number): void {
      const { access, creation, end, object } = counts
      const restored = { tokensAndRevocations: access, filesCreated: creation, filesFinished: end + object }
      const all = access + creation + end + object
      if (all > told || notYet > 0)
        log.warn({ ...restored, notYet }, 'the new server was missing commits; repeating them')
      told = all
    },
  }
}

async function redoEach(db: Db, some: Commit[], { left, counts }: Work): Promise<void> {
  const waiting = some.values()
  const one = async () => {
    for (const commit of waiting) {
      if (!left.has(commit)) continue
      const outcome = await commit.redo(db).catch(() => 'failed' as const)
      if (outcome === 'made again') counts[commit.kind] += 1
      if (outcome !== 'failed') left.delete(commit)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, one))
}

async function redoObjects(db: Db, objects: Commit[], work: Work & { now: () => number }): Promise<void> {
  const { left, now } = work
  const isAnyLeft = () => objects.some((commit) => left.has(commit))
  for (const untilMs = now() + GIVE_UP_MS; isAnyLeft() && now() < untilMs; ) {
    await redoEach(db, objects, work)
    if (isAnyLeft()) await sleep(PAUSE_MS)
  }
}

const isObject = ({ kind }: Commit): boolean => kind === 'object'

/** A key that was shown as revoked must not grant access again. */
export function revokeAgain(
  table: 'account_keys' | 'senders' | 'sessions' | 'tokens',
  id: string,
  revokedAt: Date,
): Redo {
  return async (db) => {
    const again = await rows(
      db,
      sql`update ${sql.identifier(table)} set revoked_at = ${revokedAt.toISOString()}::timestamptz
        where id = ${id}::uuid and revoked_at is null returning 1`,
    )
    return again.length > 0 ? 'made again' : 'is there'
  }
}
