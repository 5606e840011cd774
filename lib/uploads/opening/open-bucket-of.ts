import type { Bucket } from '../bucket-port.ts'
import type { PipeDestination } from '../ledger/upload-rights.ts'

/**
 * Opens a destination's bucket. Throws if a required destination's credentials cannot be decrypted. A best-effort
 * destination that cannot be opened or was turned off refuses every request, so that its file continues without it.
 */
export function openBucketOf<Opened extends Pick<Bucket, 'capabilities'>>(
  { openBucket }: { openBucket(dataStore: PipeDestination['dataStore']): Opened },
  { dataStore, required }: Pick<PipeDestination, 'dataStore' | 'required'>,
): Opened | Bucket {
  if (required) return openBucket(dataStore)
  if (dataStore.state === 'off') return refusing(dataStore.workspaceId, 'The Data Store is turned off.')
  try {
    return openBucket(dataStore)
  } catch (error) {
    return refusing(dataStore.workspaceId, (error as Error).message)
  }
}

/** A destination that refuses every request does not restrict the part sizes of the other destinations. */
const UNLIMITED = {
  maxParts: Number.POSITIVE_INFINITY,
  equalParts: false,
  copyParts: true,
  dropsUnfinishedAfterHours: null,
  objectionTo: () => undefined,
}

function refusing(workspaceId: string, why: string): Bucket {
  const refuse = async () => {
    throw Object.assign(new Error(why), { name: 'BucketError', kind: 'refused', code: 'not_open' })
  }
  const bucket: Bucket = {
    workspaceId,
    capabilities: UNLIMITED,
    storageOf: () => null,
    putObject: refuse,
    createMultipart: refuse,
    uploadPart: refuse,
    completeMultipart: refuse,
    abortMultipart: refuse,
    headObject: refuse,
    listPage: refuse,
    readRange: refuse,
    copyPart: refuse,
    deleteObject: refuse,
    forCopies: () => bucket,
  }
  return bucket
}
