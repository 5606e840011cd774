import type { PendingQuery, Row, Sql } from 'postgres'
import type { Outages } from './outages.ts'

type Unsafe = Sql['unsafe']
type Kept = {
  resolve(result: unknown): void
  reject(error: unknown): void
  args: unknown
  parameters: unknown
  /** Set once it is on a connection. */
  state: unknown
  executed: boolean
  cancelled: unknown
}

/**
 * Statements whose parameters go once they are answered. postgres.js 3.4 keeps them in a query for as long as the query is
 * there, and V8 takes answered queries for living ones until it collects its whole heap: texts of tails filled it.
 * Whoever watches for outages sees them begin and end, and may give them up.
 */
export function forgetful(unsafe: Unsafe, outages?: Pick<Outages, 'begun'>): Unsafe {
  return ((...args: Parameters<Unsafe>) => {
    const query = unsafe(...args) as PendingQuery<Row[]> & Kept
    const { resolve, reject } = query
    // A transaction that begins takes a connection, and has to end to give it back.
    const begins = args[2] !== undefined && 'onexecute' in args[2]
    const ended = begins
      ? undefined
      : outages?.begun((error) => {
          reject(error)
          forget(query)
        })
    query.resolve = (result) => {
      query.args = []
      query.parameters = []
      ended?.()
      resolve(result)
    }
    query.reject = (error) => {
      ended?.(error)
      reject(error)
    }
    return query
  }) as Unsafe
}

/** What was not sent yet is not sent later. What a new connection was opened for is: without it that one would hang. */
function forget(query: PendingQuery<Row[]> & Kept): void {
  if (query.state) return
  if (!query.executed) query.executed = true
  else query.cancel()
  query.cancelled = null
}
