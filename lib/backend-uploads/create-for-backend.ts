import { capabilitiesOf } from '../buckets/providers.ts'
import { emitFileCreated } from '../events/emit-file-event.ts'
import type { Db } from '../platform/db/database.ts'
import type { CoreRuntime, Runtime } from '../platform/runtime.ts'
import { largestPartBytes } from '../upload-memory/part-sizes.ts'
import { type CreationRight, openUploadRights } from '../uploads/ledger/upload-rights.ts'
import { createUploads, type Declared } from '../uploads/opening/create-upload.ts'
import type { SealedDataStore } from '../workspace/data-stores/sealed-data-store.ts'

type Issued = { token: string; pipeId: string }

/** The right to create uploads with a token that was issued in the same transaction. */
export function rightOf({ db, clock }: CoreRuntime, { token, pipeId }: Issued): Promise<CreationRight> {
  return openUploadRights({ db, clock }).toCreate(token, pipeId, 'http')
}

/**
 * Creates uploads requested by a customer's backend, using only the part of the data plane that creation needs: the
 * API works without the rest. Call it in a transaction.
 */
export function createForBackend(
  { db, clock, config, queue }: Pick<Runtime, 'db' | 'clock' | 'config' | 'queue'>,
  right: CreationRight,
  declared: readonly (Declared & { concat: null })[],
): Promise<string[]> {
  const { uploadMemoryBytes, uploadMemoryShares, freeTierBytes } = config
  const context = {
    db,
    clock,
    quota: { limitBytes: freeTierBytes },
    budget: { maxPartBytes: largestPartBytes(uploadMemoryBytes * uploadMemoryShares, uploadMemoryBytes) },
    openBucket: ({ provider, found }: SealedDataStore) => ({ capabilities: capabilitiesOf(provider, found) }),
    emitCreated: (tx: Db, ...fileIds: string[]) => emitFileCreated(tx, { queue, clock }, ...fileIds),
  }
  return createUploads(context, right, declared)
}
