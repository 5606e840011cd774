import { type SQL, sql } from 'drizzle-orm'
import type { Bound } from '../part-numbers.ts'

/**
 * Assignments for an update of `files`. If a statement's answer was lost, the writer may lag behind its row; its view of
 * the bindings is ignored then.
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
