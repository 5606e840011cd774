import type { PendingQuery, Row, Sql, TransactionSql } from 'postgres'
import type { Outages } from './outages.ts'

/**
 * A transaction whose session ends is over: the caller of `begin` hears of it, but postgres.js 3.4 lets the body go on, and
 * its next statement ends the process by writing to a socket that is gone, or runs outside of the transaction on the
 * connection's next session. Here that statement fails instead, and no rollback is sent.
 */
export function guardTransactions(client: Sql, outages?: Pick<Outages, 'begun'>): void {
  const begin = client.begin.bind(client) as <T>(body: (sql: TransactionSql) => Promise<T>) => Promise<T>
  const guarded = <T>(body: (sql: TransactionSql) => Promise<T>): Promise<T> => {
    let over = false
    let givenUp = false
    const ended = () => {
      over = true
    }
    const begun = begin<T>((sql) => {
      if (givenUp) throw new Error(GIVEN_UP)
      const run = forgetful(sql.unsafe, outages)
      sql.unsafe = ((...args: Parameters<typeof run>) => {
        if (givenUp) throw new Error(GIVEN_UP)
        if (over) throw new Error('The session of this transaction has ended.')
        return run(...args)
      }) as typeof run
      return new Promise((resolve, reject) => {
        const work = body(sql)
        work.then(
          (result) => {
            if (givenUp) reject(new Error(GIVEN_UP))
            else if (!over) resolve(result)
          },
          // What ended the statement may have ended the session; a turn later it is known.
          (error) => setImmediate(() => over || reject(error)),
        )
      })
    })
    begun.then(ended, ended)
    const giveUp = () => {
      givenUp = true
    }
    return outages ? unlessAway(begun, outages, giveUp) : begun
  }
  client.begin = guarded as typeof client.begin
}

const GIVEN_UP = 'This transaction was given up while the database was away.'

/** Given up, it is rolled back when the database is there again, unless it was being committed. */
function unlessAway<T>(begun: Promise<T>, outages: Pick<Outages, 'begun'>, giveUp: () => void): Promise<T> {
  return new Promise((resolve, reject) => {
    const settled = outages.begun((error) => {
      giveUp()
      reject(error)
    })
    begun.then(
      (result) => {
        settled()
        resolve(result)
      },
      (error) => {
        settled(error)
        reject(error)
      },
    )
  })
}

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
