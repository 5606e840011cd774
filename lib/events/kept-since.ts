import { days } from '../platform/kernel/clock.ts'

/** For so long an event can be looked at and sent. It goes with its month, once all of that is older. */
export const EVENTS_KEPT_MS = days(30)

export const keptSince = (nowMs: number): Date => new Date(nowMs - EVENTS_KEPT_MS)
