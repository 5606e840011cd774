import { inArray } from 'drizzle-orm'
import { dataStores } from '#drizzle/schema/index.ts'
import { capabilitiesOf } from '../../buckets/providers.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { largestPartBytes } from '../../upload-memory/part-sizes.ts'
import {
  equalPartBytes,
  largestUpload,
  limitsOfSet,
  nextPartBytes,
  type PartLimits,
} from '../../uploads/rules/part-plan.ts'
import { type DataStore, toDataStore } from '../../workspace/data-stores/data-store.ts'
import { readStates } from '../../workspace/data-stores/read-data-stores.ts'
import type { DataStoreState } from '../../workspace/data-stores/sealed-data-store.ts'
import type { PipeDestination } from '../../workspace/pipes/destinations.ts'

/** A Pipe's destinations in order, and the limits for a file that goes to all of them. */
export type DestinationSet = {
  members: { store: DataStore; state: DataStoreState; required: boolean; mayRead: boolean }[]
  largestBytes: number
  /** Data Stores that lower the maximum file size below what the others allow; empty if all allow the same. */
  limitedBy: string[]
  /** Data Stores that require parts of equal size. */
  equalPartsFor: string[]
  /** The number of requests to each destination for a file of this size. */
  requestsFor(bytes: number): number
}

export async function describeSet(
  { db, vault, config }: Pick<Runtime, 'db' | 'vault' | 'config'>,
  destinations: readonly PipeDestination[],
): Promise<DestinationSet> {
  const ids = destinations.map(({ dataStoreId }) => dataStoreId)
  const [found, states] = await Promise.all([
    db.select().from(dataStores).where(inArray(dataStores.id, ids)),
    readStates(db, ids),
  ])
  const rowOf = new Map(found.map((row) => [row.id, row]))
  const members = destinations.map(({ dataStoreId, required }) => {
    const row = rowOf.get(dataStoreId)!
    const capabilities = capabilitiesOf(row.provider, row.found)
    const [store, state] = [toDataStore(row, { vault, config }), states.get(dataStoreId)!]
    return { store, state, required, mayRead: row.mayRead, capabilities }
  })
  const { uploadMemoryBytes, uploadMemoryShares } = config
  const most = largestPartBytes(uploadMemoryBytes * uploadMemoryShares, uploadMemoryBytes)
  const capabilities = members.map((member) => member.capabilities)
  const names = members.map(({ store }) => store.name)
  const limits = limitsOfSet(capabilities, most)
  return {
    members,
    largestBytes: largestUpload(limits),
    limitedBy: limiting(capabilities, most).map((n) => names[n]!),
    equalPartsFor: names.filter((_, n) => capabilities[n]!.equalParts),
    requestsFor: (bytes) => requestsFor(limits, bytes),
  }
}

type Limited = { maxParts: number; equalParts: boolean }

/** The positions of the members that limit the file size: without them, a larger file would be possible. */
export function limiting(all: readonly Limited[], maxPartBytes: number): number[] {
  const largest = (some: readonly Limited[]) => largestUpload(limitsOfSet(some, maxPartBytes))
  const whole = largest(all)
  const others = (n: number) => all.filter((one) => !isLike(one, all[n]!))
  return all.flatMap((_, n) => (others(n).length > 0 && largest(others(n)) > whole ? [n] : []))
}

const isLike = (one: Limited, other: Limited) =>
  one.maxParts === other.maxParts && one.equalParts === other.equalParts

/** Either one PutObject, or the requests of a multipart upload: its start, its parts and its completion. */
export function requestsFor(limits: PartLimits, bytes: number): number {
  const partBytes = limits.equalParts
    ? equalPartBytes(limits, bytes)
    : nextPartBytes(limits, { lengthBytes: bytes, offsetBytes: 0, nextNumber: 1 })
  return bytes <= partBytes ? 1 : Math.ceil(bytes / partBytes) + 2
}
