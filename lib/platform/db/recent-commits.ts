import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import type { Logger } from '../log/log.ts'
import { type Db, rows } from './database.ts'

/**
 * What this process has committed lately and told somebody of. A standby that was promoted without the last commits of its
 * primary has lost them, and nobody else knows; so they are made again. Each knows how to find out whether it is missing.
 * Bounded by age and number: a standby that was further behind has lost more than anybody remembers.
 */
export type RecentCommits = ReturnType<typeof createRecentCommits>

/** In which order they are made again: a file needs its token, its end needs the file. */
const KINDS = ['access', 'creation', 'end'] as const
export type CommitKind = (typeof KINDS)[number]
/** Makes the commit again if it is missing; throws if it cannot yet. */
export type Redo = (db: Db) => Promise<'made again' | 'is there'>
type Commit = { kind: CommitKind; atMs: number; redo: Redo }

const KEPT_MS = 120_000
const MOST = 10_000
const AT_ONCE = 4
/** A lease of a process that is gone, or what another process has to make first, may be in the way for a while. */
const PAUSE_MS = 1000
const GIVE_UP_MS = 60_000

export function createRecentCommits(now: () => number = () => performance.now()) {
  const commits: Commit[] = []
  /** While there is a server that may lack something. */
  let pending: Commit[] | undefined
  const firstSteps = new Set<(db: Db) => Promise<void>>()

  /** Those that could not be made again yet. */
  const redoAll = async (db: Db, wanted: Commit[], counts: Counts): Promise<Commit[]> => {
    const left: Commit[] = []
    for (const kind of KINDS) {
      const some = wanted.filter((commit) => commit.kind === kind)
      const one = async () => {
        for (let commit = some.shift(); commit; commit = some.shift()) {
          const outcome = await commit.redo(db).catch(() => 'failed' as const)
          if (outcome === 'made again') counts[kind] += 1
          if (outcome === 'failed') left.push(commit)
        }
      }
      await Promise.all(Array.from({ length: AT_ONCE }, one))
    }
    return left
  }
  return {
    note(kind: CommitKind, redo: Redo): void {
      const atMs = now()
      while (commits.length >= MOST || (commits[0] && commits[0].atMs < atMs - KEPT_MS)) commits.shift()
      commits.push({ kind, atMs, redo })
    },
    /** It was refused, perhaps because what comes before it is lost. */
    doubt(kind: CommitKind, redo: Redo): void {
      pending?.push({ kind, atMs: now(), redo })
    },
    /** What has to be done before anything is made again. */
    first(step: (db: Db) => Promise<void>): void {
      firstSteps.add(step)
    },
    /**
     * Makes again what another server does not have. Resolves when all was tried once, so that whoever asks this process
     * next finds it; `later` tries the rest again, and resolves at the end.
     */
    async redo(db: Db, log: Logger): Promise<{ later(): Promise<void> }> {
      const counts: Counts = { access: 0, creation: 0, end: 0 }
      for (const step of firstSteps) await step(db)
      const since = now() - KEPT_MS
      const known = commits.filter(({ atMs }) => atMs >= since)
      const doubted: Commit[] = []
      pending = doubted
      let left = await redoAll(db, known, counts)
      return {
        async later() {
          for (const untilMs = now() + GIVE_UP_MS; now() < untilMs; ) {
            await sleep(PAUSE_MS)
            left = await redoAll(db, [...left, ...doubted.splice(0)], counts)
          }
          if (pending === doubted) pending = undefined
          const made = Object.values(counts).some((count) => count > 0)
          if (made || left.length > 0)
            log.warn({ ...counts, left: left.length }, 'what another server lacked was made again')
        },
      }
    },
  }
}

type Counts = Record<CommitKind, number>

/** A key that was shown as revoked must not open anything again. */
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
