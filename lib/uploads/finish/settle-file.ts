import type { Lease } from '../lease/held-lease.ts'
import type { Destination } from '../opening/upload.ts'
import type { UploadContext } from '../upload-context.ts'
import type { Attempt, Judged, Wanted } from './judge.ts'
import { type Outcome, recordOutcome } from './settle.ts'
import { settleSeveral } from './settle-several.ts'

/** Where an object is to be made. */
export type ObjectPlace = Wanted['destination'] & Pick<Destination, 'dataStoreId' | 'required'>

/** A file whose bytes are all durable, with the destinations that have no object yet. */
export type Unsettled<Place extends ObjectPlace> = {
  fileId: string
  lease: Lease
  lengthBytes: number
  crc32: number
  /** An earlier attempt, whose outcome is unknown, may have made an object. */
  sentBefore: boolean
  hasOneDestination: boolean
  destinations: readonly Place[]
}

/** Makes one attempt at each of these destinations, and records what came of it. The lease is released in each case. */
export async function settleFile<Place extends ObjectPlace>(
  context: UploadContext,
  { destinations, hasOneDestination, ...file }: Unsettled<Place>,
  attempt: (at: Attempt & { destination: Place }) => Promise<Judged>,
): Promise<Outcome> {
  if (hasOneDestination) {
    const one = { ...file, destination: destinations[0]! }
    return recordOutcome(context, one, await attempt(one))
  }
  const tries = destinations.map((destination) => ({
    destination,
    judging: (signal: AbortSignal) => attempt({ ...file, destination, lease: { signal } }),
  }))
  return settleSeveral(context, file, tries)
}
