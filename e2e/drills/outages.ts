import { setTimeout as sleep } from 'node:timers/promises'
import type { Stage } from './stage.ts'

/** Takes part of the stage down for the given time, and returns when it is back up. */
export type Outage = (stage: Stage, forMs: number) => Promise<void>

export const OUTAGES = {
  async 'database down'({ databaseLine }, forMs) {
    await databaseLine.away()
    await sleep(forMs)
    await databaseLine.back()
  },
  async 'bucket down'({ bucketLine }, forMs) {
    await bucketLine.away()
    await sleep(forMs)
    await bucketLine.back()
  },
  async 'both upload nodes down'(stage, forMs) {
    const back = await stage.nodesAway()
    await sleep(forMs)
    await back()
  },
  async 'rolling restart'(stage, forMs) {
    for (const at of [0, 1] as const) {
      await stage.restart(at)
      await sleep(forMs)
    }
  },
} satisfies Record<string, Outage>

export type OutageName = keyof typeof OUTAGES
