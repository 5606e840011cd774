import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { makeSources, type Stage } from './stage.ts'

/** Runs one outage during uploads. The result contains the files created, those that arrived, and the bytes sent. */
export type DrillOptions = {
  outage: OutageName
  forMs: number
  uploads: number
  uploadBytes: number
  upload(stage: Stage, sources: ReadonlyMap<string, Buffer>): Promise<void>
}
export type DrillResult = {
  created: number
  whole: number
  /** Bytes sent, as a share of all files' bytes. Confirmed bytes should not be sent again. */
  sentShare: number
  seconds: number
}

export async function runDrill(stage: Stage, options: DrillOptions): Promise<DrillResult> {
  const { outage, forMs, uploads, uploadBytes } = options
  const sources = makeSources(uploads, uploadBytes)
  const { counts } = stage.clientLine
  const [startedAt, sentBefore] = [performance.now(), counts.bytes]
  const uploading = options.upload(stage, sources)
  await Promise.race([uploading, sent(stage, sentBefore + (uploads * uploadBytes) / 4)])
  await Promise.all([uploading, OUTAGES[outage](stage, forMs)])
  const seconds = (performance.now() - startedAt) / 1000
  const sentShare = (counts.bytes - sentBefore) / (uploads * uploadBytes)
  return { ...(await stage.arrived(sources)), sentShare, seconds }
}

/** Resolves once this many bytes have been sent, so that the outage starts during the uploads. */
async function sent({ clientLine }: Stage, bytes: number): Promise<void> {
  while (clientLine.counts.bytes < bytes) await once(clientLine.progress, 'bytes')
}

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
