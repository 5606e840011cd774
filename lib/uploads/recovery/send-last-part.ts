import { crc32 } from 'node:zlib'
import { within } from '../../platform/kernel/waits.ts'
import type { Bucket } from '../bucket-port.ts'
import type { Lease } from '../lease/held-lease.ts'
import type { Claimed, ClaimedDestination } from '../ledger/claim-transferring.ts'
import { recordLastPart } from '../ledger/parts.ts'
import { readTail } from '../ledger/tails.ts'
import { contentTypeOf } from '../rules/content-type.ts'
import { beginMultipart } from '../stream/begin-multipart.ts'
import type { UploadContext } from '../upload-context.ts'

type Place = ClaimedDestination & { dataStoreId: string; open(): Bucket }

/**
 * Sends the last part, whose bytes are in the tail, to each destination, and records it once every required one has it.
 * Every attempt sends the same bytes under the same number. Returns the faults, by destination.
 */
export async function sendLastPart(
  context: UploadContext,
  file: Claimed,
  destinations: readonly Place[],
  lease: Lease,
): Promise<ReadonlyMap<string, unknown>> {
  const { db, checkpoint, terms } = context
  const chunks = await readTail(context, file.fileId)
  const number = file.tailPartNumber
  const crc = chunks.reduce((sum, chunk) => crc32(chunk, sum), 0)
  const body = { chunks, bytes: file.tailBytes, crc32: crc }
  const faults = new Map<string, unknown>()
  const etags: (string | null)[] = file.destinations.map(() => null)
  lease.assertHeld()
  const send = async (place: Place) => {
    const { key, position, dataStoreId } = place
    try {
      place.multipartId ??= await beginLate(context, file, place, lease)
      const part = { key, multipartId: place.multipartId, number }
      const { etag } = await place.open().uploadPart(part, body, { signal: lease.signal })
      etags[position - 1] = etag
      checkpoint('part sent')
    } catch (fault) {
      faults.set(dataStoreId, fault)
    }
  }
  const required = destinations.filter((place) => place.required)
  const others = destinations.filter((place) => !place.required).map(send)
  await Promise.all(required.map(send))
  if (others.length > 0) await within(terms.trailMs, Promise.all(others))
  if (required.some(({ dataStoreId }) => faults.has(dataStoreId))) return faults
  const offsetBytes = file.bytes - file.tailBytes
  const part = { number, offsetBytes, sizeBytes: file.tailBytes, etags: [...etags], crc32: crc }
  await recordLastPart(db, lease, part)
  checkpoint('part recorded')
  return faults
}

/** The others have begun already: a node died then, or this bucket was down. No part is recorded, so the tail is the file. */
function beginLate(
  context: UploadContext,
  { filetype, object }: Claimed,
  { key, dataStoreId, open }: Place,
  lease: Lease,
): Promise<string> {
  const target = { key, contentType: contentTypeOf(filetype), object }
  return beginMultipart(context, { bucket: open(), target, dataStoreId, lease })
}
