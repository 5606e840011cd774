import type { DestinationReason } from '#drizzle/schema/files.ts'

/** Why a destination has no object, in words. */
export const REASONS_IN_WORDS: Record<DestinationReason, string> = {
  fell_behind: 'It was slower than the required destinations, and the upload did not wait for it.',
  rejected: 'The bucket rejected it.',
  unavailable: 'The bucket could not be reached, or did not answer in time.',
  unknown: 'The object may be there: the keys may not look, so nobody can tell.',
  file_ended: 'The file ended before it was here.',
}
