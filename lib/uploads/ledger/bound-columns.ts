import { type SQL, sql } from 'drizzle-orm'
import type { Bound } from '../part-numbers.ts'

/**
 * Assignments of a row of `files`. A writer whose last statement was not answered does not know whether it recorded a part:
 * what he says of the numbers does not count then.
 */
export function boundColumns({ number, startBytes, endsBytes }: Bound): SQL {
  const isCurrent = sql`recorded_parts <= ${number}::int`
  return sql`recorded_parts = greatest(recorded_parts, ${number}::int),
    recorded_bytes = greatest(recorded_bytes, ${startBytes}::bigint),
    bound_ends = case when ${isCurrent} then ${boundEnds(endsBytes)} else bound_ends end,
    reserved_part_number = case when ${isCurrent} then ${number + endsBytes.length}::int else reserved_part_number end`
}

export function boundEnds(endsBytes: readonly number[]): SQL {
  return sql`${`{${endsBytes.join()}}`}::bigint[]`
}
