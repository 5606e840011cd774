import type { SealedDataStore } from '../../workspace/data-stores/sealed-data-store.ts'
import type { Bucket } from '../bucket-port.ts'

/**
 * Concatenation copies within the bucket, reads ranges that are too small to copy, and deletes the pieces. Not every
 * provider can copy parts, and where all parts must have the same size, pieces of arbitrary sizes cannot become parts.
 */
export function mayConcatenate({ mayRead, mayDelete }: SealedDataStore, { capabilities }: Bucket): boolean {
  return mayRead && mayDelete && capabilities.copyParts && !capabilities.equalParts
}
