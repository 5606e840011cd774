import { once } from 'node:events'
import { OUTAGES, type OutageName } from './outages.ts'
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
