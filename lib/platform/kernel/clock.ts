/** The only source of time. Tests pass a clock that they control; nothing else calls `Date.now`. */
export interface Clock {
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }

export const seconds = (n: number) => n * 1000
export const minutes = (n: number) => n * 60_000
export const hours = (n: number) => n * 3_600_000
export const days = (n: number) => n * 86_400_000

/** The time `ms` before `nowMs` in ISO 8601, but not before 1970. */
export const timeAgo = (nowMs: number, ms: number) => new Date(Math.max(0, nowMs - ms)).toISOString()
