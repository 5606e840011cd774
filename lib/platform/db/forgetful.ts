import type { PendingQuery, Row, Sql } from 'postgres'

type Unsafe = Sql['unsafe']
type Kept = { resolve(result: unknown): void; args: unknown; parameters: unknown }

/**
 * Statements whose parameters go once they are answered. postgres.js 3.4 keeps them in a query for as long as the query is
 * there, and V8 takes answered queries for living ones until it collects its whole heap: texts of tails filled it.
 */
export function forgetful(unsafe: Unsafe): Unsafe {
  return ((...args: Parameters<Unsafe>) => {
    const query = unsafe(...args) as PendingQuery<Row[]> & Kept
    const { resolve } = query
    query.resolve = (result) => {
      query.args = []
      query.parameters = []
      resolve(result)
    }
    return query
  }) as Unsafe
}
