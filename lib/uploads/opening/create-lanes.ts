import { seconds } from '../../platform/kernel/clock.ts'
import { uuidv7 } from '../../platform/kernel/ids.ts'
import { insertLanes, type LaneRow, leaveUndivided } from '../ledger/lanes.ts'
import { planLanes } from '../rules/lane-plan.ts'
import { equalPartBytes, type PartLimits } from '../rules/part-plan.ts'
import type { UploadContext } from '../upload-context.ts'
import type { Place } from './upload.ts'

type Dividing = { fileId: string; lengthBytes: number; limits: PartLimits; places: readonly Place[] }

const BEGIN_MS = seconds(10)

/**
 * Divides a new file into at most `most` lanes, whose parts go into one multipart upload at each destination. Returns
 * no lanes if the file is too small, or if a bucket cannot start a multipart upload now: the file then has one writer,
 * as usual.
 */
export async function createLanes(
  context: UploadContext,
  { fileId, lengthBytes, limits, places }: Dividing,
  most: number,
): Promise<LaneRow[]> {
  const partBytes = equalPartBytes(limits, lengthBytes)
  const planned = planLanes({ lengthBytes, partBytes }, most)
  if (planned.length < 2) return []
  const lanes = planned.map((range) => ({ id: uuidv7(context.clock.now()), ...range }))
  const signal = AbortSignal.timeout(BEGIN_MS)
  const begun = await Promise.allSettled(places.map((place) => begin(place, signal)))
  const multiparts = begun.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  const divided =
    multiparts.length === places.length &&
    (await insertLanes(context.db, fileId, { lanes, partBytes, begun: multiparts }))
  if (divided) return lanes.map((lane) => ({ ...lane, offsetBytes: 0 }))
  context.log.warn({ fileId }, 'could not divide a file into lanes; it has one writer')
  await Promise.allSettled(
    multiparts.map(({ dataStoreId, multipartId }) => {
      const { bucket, target } = places.find((place) => place.dataStoreId === dataStoreId)!
      return bucket.abortMultipart(
        { key: target.key, multipartId },
        { signal: AbortSignal.timeout(BEGIN_MS) },
      )
    }),
  )
  return []
}

/** The client of a file is about to learn that it has one writer, so it must not be divided any more. */
export const keepUndivided = ({ db }: UploadContext, fileId: string): Promise<void> =>
  leaveUndivided(db, fileId)

async function begin({ bucket, target, dataStoreId }: Place, signal: AbortSignal) {
  const multipartId = await bucket.createMultipart(target, { signal })
  return { dataStoreId, multipartId, storage: bucket.storageOf(target.object) }
}
