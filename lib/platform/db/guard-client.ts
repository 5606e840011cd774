import type { PendingQuery, Row, Sql, TransactionSql } from 'postgres'
import { currentRequest } from '../kernel/request-context.ts'
import { currentOwner, type Turns } from '../turns.ts'
import { codeOf, endsSession, isEndedHere, isOutage } from './faults.ts'
import type { Outages } from './outages.ts'

/**
 * When a session ends, so does its transaction. The caller of `begin` then gets an error, but postgres.js 3.4 lets the
 * body continue: its next statement, or the rollback of a savepoint, either crashes the process by writing to a closed
 * socket, or runs outside the transaction in the connection's next session. With this guard, that statement fails
 * instead, and no rollback is sent.
 */
export function guardTransactions(client: Sql, outages?: Watch): void {
  const begin = client.begin.bind(client) as Begin
  const guarded = <T>(body: Body<T>): Promise<T> => {
    let over = false
    let givenUp = false
    const ended = () => {
      over = true
    }
    const whileOpen = <Result>(work: Promise<Result>) =>
      new Promise<Result>((resolve, reject) => {
        work.then(
          (result) => {
            if (givenUp) reject(new Error(GIVEN_UP))
            else if (!over) resolve(result)
          },
          // Without a failed statement, the end of the session only becomes known one turn later.
          (error) => setImmediate(() => over || reject(error)),
        )
      })
    /** For the transaction's own body, and for those of its savepoints. */
    const guardBody =
      <Result>(inner: Body<Result>): Body<Result> =>
      (sql) => {
        if (givenUp) throw new Error(GIVEN_UP)
        const run = tellingFirstFault(forgetful(sql.unsafe, outages), ended)
        sql.unsafe = ((...args: Parameters<typeof run>) => {
          if (givenUp) throw new Error(GIVEN_UP)
          if (over) throw new Error("This transaction's session has ended.")
          return run(...args)
        }) as typeof run
        const savepoint = sql.savepoint as Begin
        sql.savepoint = ((nested: Body<unknown>) => savepoint(guardBody(nested))) as typeof sql.savepoint
        return whileOpen(inner(sql))
      }
    const running = begin(guardBody(body))
    running.then(ended, ended)
    const giveUp = () => {
      givenUp = true
    }
    return outages ? unlessAway(running, outages, giveUp) : running
  }
  client.begin = guarded as typeof client.begin
}

type Body<Result> = (sql: TransactionSql) => Promise<Result>
type Begin = <Result>(body: Body<Result>) => Promise<Result>

const GIVEN_UP = 'This transaction was abandoned while the database was unavailable.'

/** An abandoned transaction is rolled back once the database is back, unless it was being committed. */
function unlessAway<T>(begun: Promise<T>, outages: Watch, giveUp: () => void): Promise<T> {
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

type Watch = Pick<Outages, 'begun' | 'noticed'>
type Unsafe = Sql['unsafe']
type Kept = {
  resolve(result: unknown): void
  reject(error: unknown): void
  /** Assigns the query to a connection. */
  handler(query: unknown): unknown
  args: unknown
  parameters: unknown
  /** Set once the query is on a connection. */
  state: unknown
  executed: boolean
  cancelled: unknown
}

const IN_FAILED_TRANSACTION = '25P02'

/**
 * After the first failure in a transaction, later statements fail with the same error; PostgreSQL would only report
 * that the transaction is aborted. `ended` is called before anyone learns of a failure that ended the session.
 */
function tellingFirstFault(unsafe: Unsafe, ended: () => void): Unsafe {
  let first: unknown
  return ((...args: Parameters<Unsafe>) => {
    const query = unsafe(...args) as PendingQuery<Row[]> & Kept
    const { reject } = query
    query.reject = (error) => {
      first ??= error
      if (endsSession(error)) ended()
      reject(codeOf(error) === IN_FAILED_TRANSACTION ? first : error)
    }
    return query
  }) as Unsafe
}

/**
 * Makes each statement and each transaction wait for its owner's turn at a connection. Without this, postgres.js would
 * put all of them in one queue, and behind slow statements on busy connections.
 */
export function takeTurns(client: Sql, turns: Turns): void {
  const take = () => turns.take(currentOwner(), currentRequest()?.left)
  const { unsafe } = client
  const begin = client.begin.bind(client) as (body: unknown) => Promise<unknown>
  client.begin = (async (body: unknown) => {
    const end = await take()
    return begin(body).finally(end)
  }) as typeof client.begin
  client.unsafe = ((...args: Parameters<Unsafe>) => {
    const query = unsafe(...args) as PendingQuery<Row[]> & Kept
    return beginsTransaction(args) ? query : takingTurn(query, take)
  }) as Unsafe
}

function takingTurn(query: PendingQuery<Row[]> & Kept, take: () => Promise<() => void>) {
  const { handler, resolve, reject } = query
  let end: (() => void) | undefined
  let isOver = false
  const over =
    (settle: (outcome: unknown) => void) =>
    (outcome: unknown): void => {
      isOver = true
      end?.()
      settle(outcome)
    }
  query.resolve = over(resolve)
  query.reject = over(reject)
  query.handler = async (sent) => {
    try {
      // A statement that is sent again still has its turn.
      end ??= await take()
    } catch (error) {
      return query.reject(error)
    }
    if (isOver) end()
    else handler(sent)
  }
  return query
}

/** A statement that starts a transaction occupies its connection until the transaction ends. */
const beginsTransaction = (args: Parameters<Unsafe>) => args[2] !== undefined && 'onexecute' in args[2]

/** How long a statement may wait for a connection. */
const CONNECT_PATIENCE_MS = 1000
const CONNECT_AGAIN_MS = 50

/**
 * Runs statements, and drops their parameters once they have completed. postgres.js 3.4 keeps the parameters as long as
 * the query object exists, and V8 keeps completed queries until it collects its entire heap, which used to fill up with
 * the text of tails. The outage watch sees statements start and end, and may abandon them. A statement that was not
 * sent because its new connection failed is retried: another connection may be free by then, or a standby may have
 * taken over.
 */
export function forgetful(unsafe: Unsafe, outages?: Watch): Unsafe {
  return ((...args: Parameters<Unsafe>) => {
    const query = unsafe(...args) as PendingQuery<Row[]> & Kept
    const { resolve, reject } = query
    const untilMs = performance.now() + CONNECT_PATIENCE_MS
    let isOver = false
    const ended = beginsTransaction(args)
      ? undefined
      : outages?.begun((error) => {
          isOver = true
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
      if (!isOver && wasNotSent(query, error) && performance.now() < untilMs) {
        outages?.noticed(error)
        setTimeout(() => isOver || query.handler(query), CONNECT_AGAIN_MS)
        return
      }
      ended?.(error)
      reject(error)
    }
    return query
  }) as Unsafe
}

const wasNotSent = ({ state }: Kept, error: unknown) =>
  state === null && isOutage(error) && !isEndedHere(error)

/**
 * Keeps an abandoned statement from being sent later, except on a connection that is being opened for it, which would
 * otherwise hang.
 */
function forget(query: PendingQuery<Row[]> & Kept): void {
  if (query.state) return
  if (!query.executed) query.executed = true
  else query.cancel()
  query.cancelled = null
}
