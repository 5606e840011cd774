import type { SealedDataStore } from '../../workspace/data-stores/sealed-data-store.ts'
import type { Bucket } from '../bucket-port.ts'

/**
 * Concatenation copies within the bucket, reads ranges that are too small to copy, and deletes the pieces. Where all parts
 * must be equal, pieces of any size cannot become parts, and not every provider can copy.
 */
export function mayConcatenate({ mayRead, mayDelete }: SealedDataStore, { capabilities }: Bucket): boolean {
  return mayRead && mayDelete && capabilities.copyParts && !capabilities.equalParts
}
