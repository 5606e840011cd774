import { type SQL, sql } from 'drizzle-orm'
import type { Bound } from '../rules/part-numbers.ts'

/**
 * Assignments for an update of `files`. A writer that never learned the result of an earlier statement may be behind
 * its row. Then its view of the bindings is ignored.
 */
export function boundColumns({ recordedParts, recordedBytes, boundEnds }: Bound): SQL {
  const isCurrent = sql`recorded_parts <= ${recordedParts}::int`
  return sql`recorded_parts = greatest(recorded_parts, ${recordedParts}::int),
    recorded_bytes = greatest(recorded_bytes, ${recordedBytes}::bigint),
    bound_ends = case when ${isCurrent} then ${bigints(boundEnds)} else bound_ends end,
    reserved_part_number = case when ${isCurrent} then ${recordedParts + boundEnds.length}::int else reserved_part_number end`
}

export function bigints(numbers: readonly number[]): SQL {
  return sql`${`{${numbers.join()}}`}::bigint[]`
}
