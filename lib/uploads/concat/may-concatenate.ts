import type { SealedDataStore } from '../../workspace/data-stores/sealed-data-store.ts'
import type { Bucket } from '../bucket-port.ts'

/**
 * Concatenation copies within the bucket, reads what is too small to copy, and leaves nothing of the pieces. Where all parts
 * must be equal, pieces of any size cannot become parts, and not every S3 can copy.
 */
export function mayConcatenate({ mayRead, mayDelete }: SealedDataStore, { capabilities }: Bucket): boolean {
  return mayRead && mayDelete && capabilities.copyParts && !capabilities.equalParts
}
