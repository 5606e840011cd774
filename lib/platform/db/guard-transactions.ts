import type { Sql, TransactionSql } from 'postgres'
import { forgetful } from './forgetful.ts'

/**
 * A transaction whose session ends is over: the caller of `begin` hears of it, but postgres.js 3.4 lets the body go on, and
 * its next statement ends the process by writing to a socket that is gone, or runs outside of the transaction on the
 * connection's next session. Here that statement fails instead, and no rollback is sent.
 */
export function guardTransactions(client: Sql): void {
  const begin = client.begin.bind(client) as <T>(body: (sql: TransactionSql) => Promise<T>) => Promise<T>
  const guarded = <T>(body: (sql: TransactionSql) => Promise<T>): Promise<T> => {
    let over = false
    const ended = () => {
      over = true
    }
    const begun = begin<T>((sql) => {
      const run = forgetful(sql.unsafe)
      sql.unsafe = ((...args: Parameters<typeof run>) => {
        if (over) throw new Error('The session of this transaction has ended.')
        return run(...args)
      }) as typeof run
      return new Promise((resolve, reject) => {
        const work = body(sql)
        work.then(
          (result) => over || resolve(result),
          // What ended the statement may have ended the session; a turn later it is known.
          (error) => setImmediate(() => over || reject(error)),
        )
      })
    })
    begun.then(ended, ended)
    return begun
  }
  client.begin = guarded as typeof client.begin
}
