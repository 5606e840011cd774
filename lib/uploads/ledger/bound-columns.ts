import { type SQL, sql } from 'drizzle-orm'
import type { Bound } from '../part-numbers.ts'

/** Assignments of a row of `files`. */
export function boundColumns({ number, startBytes, endsBytes }: Bound): SQL {
  return sql`recorded_parts = ${number}::int, recorded_bytes = ${startBytes}::bigint,
    bound_ends = ${boundEnds(endsBytes)}, reserved_part_number = ${number + endsBytes.length}::int`
}

export function boundEnds(endsBytes: readonly number[]): SQL {
  return sql`${`{${endsBytes.join()}}`}::bigint[]`
}
