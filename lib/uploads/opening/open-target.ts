import type { Bucket } from '../bucket-port.ts'
import type { Target } from '../ledger/upload-rights.ts'

/**
 * Opens the bucket of a destination. Throws if the credentials of a required one cannot be decrypted. One of best effort that
 * cannot be opened, or was turned off, refuses whatever it is asked, so that its file goes on without it.
 */
export function openTarget<Opened extends Pick<Bucket, 'capabilities'>>(
  { openBucket }: { openBucket(dataStore: Target['dataStore']): Opened },
  { dataStore, required }: Pick<Target, 'dataStore' | 'required'>,
): Opened | Bucket {
  if (required) return openBucket(dataStore)
  if (dataStore.state === 'off') return refusing(dataStore.workspaceId, 'Its Data Store is turned off.')
  try {
    return openBucket(dataStore)
  } catch (error) {
    return refusing(dataStore.workspaceId, (error as Error).message)
  }
}

/** It sets no limits to the parts that the others get. */
const UNLIMITED = {
  maxParts: Number.POSITIVE_INFINITY,
  equalParts: false,
  copyParts: true,
  dropsUnfinishedAfterHours: null,
}

function refusing(workspaceId: string, why: string): Bucket {
  const refuse = async () => {
    throw Object.assign(new Error(why), { name: 'BucketError', kind: 'refused', code: 'not_open' })
  }
  const bucket: Bucket = {
    workspaceId,
    capabilities: UNLIMITED,
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
