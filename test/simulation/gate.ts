import type { Choices } from './choices.ts'
import { assertHolds } from './failure.ts'
import type { Host, Scheduler, Step } from './scheduler.ts'
import type { Query, Session, Sessions } from './sessions.ts'
import { pauseReally } from './simulated-time.ts'
import { lostSession, Transaction } from './transaction.ts'

type Rows = Record<string, unknown>[]
export type Deps = {
  scheduler: Scheduler
  choices: Choices
  /** The percentage of statements with this name that lose their session before execution. As many lose it after. */
  lostPercent: (label: string) => number
  /** The percentage of responses to statements with this name that are delayed. */
  slowPercent: (label: string) => number
  /** The percentage of statements with this name that wait for a long time before they are executed. */
  latePercent: (label: string) => number
  /** Called when something may have been committed, with the node and the statement. */
  committed(by: ReadonlyMap<Host, string>): Promise<void>
  /** Called for each notification. */
  notified(notice: { channel: string; payload: string }): void
}

export type Statement = Query & { host: Host; label: string; transaction?: Transaction | undefined }
/** `kinds`: the other kinds of statements that have been executed since. */
type HeldUp = { step: Step; kinds: Set<string>; untilKinds: number }
type Blocked = { session: Session; blockers: number[]; done: Promise<void>; finish: () => Promise<void> }

const ENDS = { commit: 'commits', rollback: 'rolls back' }
const WRITES = /\b(insert|update|delete)\b/i
const ASKS_TIME = /\bnow\(\)/i
/** How late a response is: only after other steps, or so late that its request may have ended. */
const LATE_MS = [0, 0, 0, 3_000]
/** How late a statement is executed: possibly after nobody waits for it any more, or after its lease has expired. */
const WAITS_MS = [500, 5_000, 16_000, 31_000]
/** Alternatively, it is executed after this many other kinds of statements. */
const OTHER_KINDS = [1, 2, 3, 4, 6]
/** The longest that a statement waits for others. */
const WAITS_FOR_OTHERS_MS = 40_000
/** How long to wait, in real time, before asking PostgreSQL what blocks a statement. */
const ASK_AFTER_MS = 2

/**
 * Where all nodes' statements wait for their turn. One is executed at a time, on the real database. If it has to wait
 * for the lock of another node's open transaction, it stays in progress, and until it is done only the sessions
 * blocking it continue. A commit therefore wakes at most one statement, and the next event is the same each time.
 */
export class Gate {
  readonly #sessions: Sessions
  readonly #deps: Deps
  readonly #open = new Set<Transaction>()
  /** Each of these waits for the next one. */
  readonly #blocked: Blocked[] = []
  /** For each host, its last write or commit that has not been reported yet. */
  readonly #changed = new Map<Host, string>()
  #hasNotices = false
  /** Statements that wait until other kinds of statements have been executed. */
  readonly #heldUp = new Set<HeldUp>()
  #answers: { host: Host; label: string; give: () => void }[] = []

  constructor(sessions: Sessions, deps: Deps) {
    this.#sessions = sessions
    this.#deps = deps
  }

  run(statement: Statement): Promise<Rows> {
    const { promise, resolve, reject } = Promise.withResolvers<Rows>()
    const { host, label, transaction } = statement
    const { scheduler, choices, latePercent } = this.#deps
    const step: Step = {
      actor: host.name,
      label,
      host,
      mayOutlive: transaction === undefined,
      isPossible: () => this.#isTurnOf(transaction),
      run: () => this.#execute(statement, resolve, reject),
    }
    if (choices.percent(latePercent(label))) this.#holdUp(step)
    scheduler.park(step)
    return promise
  }

  #holdUp(step: Step): void {
    const { scheduler, choices } = this.#deps
    const waitMs = choices.pick([...WAITS_MS, undefined])
    step.dueMs = scheduler.nowMs + (waitMs ?? WAITS_FOR_OTHERS_MS)
    if (waitMs === undefined)
      this.#heldUp.add({ step, kinds: new Set(), untilKinds: choices.pick(OTHER_KINDS) })
  }

  /** A statement of this kind has been executed. */
  #executed(label: string): void {
    for (const heldUp of this.#heldUp) {
      const { step, kinds, untilKinds } = heldUp
      if (step.label !== label) kinds.add(label)
      if (kinds.size < untilKinds) continue
      step.dueMs = 0
      this.#heldUp.delete(heldUp)
    }
  }

  begin(host: Host): Transaction {
    const transaction = new Transaction(host)
    this.#open.add(transaction)
    return transaction
  }

  async end(transaction: Transaction, how: 'commit' | 'rollback', label: string): Promise<void> {
    const { host } = transaction
    if (transaction.lost && how === 'commit') throw transaction.lost
    if (!transaction.session) return void this.#open.delete(transaction)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const run = () => this.#end(transaction, how, label, resolve, reject)
    const isPossible = () => this.#isTurnOf(transaction)
    this.#deps.scheduler.park({ actor: host.name, label: `${ENDS[how]} ${label}`, host, isPossible, run })
    return promise
  }

  /** Ends the host's sessions. Statements that it has already sent outside of a transaction may still be executed. */
  async kill(host: Host): Promise<void> {
    for (const transaction of [...this.#open].filter((one) => one.host === host))
      if (!this.#isBlocked(transaction)) await this.#lose(transaction)
    await this.#untilBlocked()
  }

  /** Ends the transactions that are still open. */
  async close(): Promise<void> {
    for (const transaction of [...this.#open])
      if (!this.#isBlocked(transaction)) await this.#lose(transaction)
    await this.#untilBlocked()
  }

  #isBlocked({ session }: Transaction): boolean {
    return this.#blocked.some((blocked) => blocked.session === session)
  }

  #isTurnOf(transaction: Transaction | undefined): boolean {
    const blocked = this.#blocked.at(-1)
    if (!blocked) return true
    const pid = transaction?.session?.pid
    return pid !== undefined && blocked.blockers.includes(pid)
  }

  async #execute(
    statement: Statement,
    resolve: (rows: Rows) => void,
    reject: (error: unknown) => void,
  ): Promise<void> {
    const { host, label, transaction } = statement
    if (transaction?.lost) return reject(transaction.lost)
    const fault = this.#drawFault(label)
    if (fault === 'lost before') {
      if (transaction) await this.#lose(transaction)
      await this.#untilBlocked()
      return reject(transaction?.lost ?? lostSession())
    }
    const session = transaction?.session ?? (await this.#sessions.take())
    const isFirst = transaction !== undefined && !transaction.session
    if (transaction) transaction.session = session
    const running = this.#send(session, statement, isFirst)
    const finish = async () => {
      const outcome = await running.then(
        (rows) => ({ rows }),
        (error: unknown) => ({ error }),
      )
      // A statement that changes something reports at least one row.
      const count = 'rows' in outcome ? (outcome.rows as Rows & { count: number }).count : 0
      await this.#finish(statement, session, {
        hasChanged: count > 0,
        isLost: fault === 'lost after',
      })
      const give = () => {
        if (fault === 'lost after') reject(transaction?.lost ?? lostSession())
        else if ('error' in outcome) reject(outcome.error)
        else resolve(outcome.rows)
      }
      this.#answers.push({ host, label, give })
    }
    this.#blocked.push({ session, blockers: [], done: ended(running), finish })
    await this.#untilBlocked()
  }

  async #finish(
    { host, label, text, transaction }: Statement,
    session: Session,
    { hasChanged, isLost }: { hasChanged: boolean; isLost: boolean },
  ): Promise<void> {
    this.#executed(label)
    const isWrite = hasChanged && WRITES.test(text)
    const notifies = text.includes('pg_notify')
    if (transaction) {
      transaction.wrote ||= isWrite
      transaction.notified ||= notifies
      if (host.state === 'dead' || isLost) await this.#lose(transaction)
      return
    }
    session.isFree = true
    if (isWrite) this.#changed.set(host, label)
    this.#hasNotices ||= notifies
  }

  async #send(session: Session, statement: Statement, isFirst: boolean): Promise<Rows> {
    const { transaction } = statement
    // Within a transaction, PostgreSQL's now() is its start.
    if (isFirst || (!transaction && ASKS_TIME.test(statement.text)))
      void session.setTime(this.#deps.scheduler.nowMs)
    if (isFirst) void session.run({ text: 'begin' })
    return session.run(statement)
  }

  async #end(
    transaction: Transaction,
    how: 'commit' | 'rollback',
    label: string,
    resolve: () => void,
    reject: (error: unknown) => void,
  ): Promise<void> {
    const { host } = transaction
    if (transaction.lost) return how === 'commit' ? reject(transaction.lost) : resolve()
    const fault = how === 'commit' ? this.#drawFault(label) : undefined
    if (fault === 'lost before') {
      await this.#lose(transaction)
      await this.#untilBlocked()
      return reject(transaction.lost)
    }
    await transaction.session!.run({ text: how })
    this.#free(transaction)
    if (how === 'commit' && transaction.wrote) this.#changed.set(host, `commits ${label}`)
    this.#hasNotices ||= how === 'commit' && transaction.notified
    const answered = `${ENDS[how]} ${label}`
    this.#answers.push({ host, label: answered, give: () => (fault ? reject(lostSession()) : resolve()) })
    await this.#untilBlocked()
  }

  /** Ends a transaction's session: the transaction is rolled back, and any further use gets an error. */
  async #lose(transaction: Transaction): Promise<void> {
    transaction.lost = lostSession()
    if (transaction.session) await transaction.session.run({ text: 'rollback' })
    this.#free(transaction)
  }

  #free(transaction: Transaction): void {
    this.#open.delete(transaction)
    if (transaction.session) transaction.session.isFree = true
  }

  /** Runs until every statement is done or waiting for a lock, and only then reads their changes. */
  async #untilBlocked(): Promise<void> {
    for (let last = this.#blocked.at(-1); last; last = this.#blocked.at(-1)) {
      last.blockers = await this.#blockersOf(last)
      const { blockers } = last
      assertHolds(
        'no deadlock',
        !this.#blocked.some(({ session }) => blockers.includes(session.pid)),
        () => 'two transactions wait for each other',
      )
      if (blockers.length > 0) break
      this.#blocked.pop()
      await last.finish()
    }
    const changed = new Map(this.#changed)
    this.#changed.clear()
    const answers = this.#answers.splice(0)
    if (changed.size > 0) await this.#deps.committed(changed)
    if (this.#hasNotices) for (const notice of await this.#sessions.heard()) this.#deps.notified(notice)
    this.#hasNotices = false
    for (const { host, label, give } of answers) this.#answer(host, label, give)
  }

  /** Returns an empty list once the statement is done. */
  async #blockersOf({ session, done }: Blocked): Promise<number[]> {
    let isDone = false
    const whenDone = done.then(() => {
      isDone = true
      return []
    })
    if (this.#sessions.isAlone(session)) return whenDone
    // Most statements are done before PostgreSQL could be asked.
    await Promise.race([whenDone, pauseReally(ASK_AFTER_MS)])
    while (!isDone) {
      const blockers = await Promise.race([whenDone, this.#sessions.blockersOf(session)])
      if (!isDone && blockers.length > 0) return blockers
    }
    return []
  }

  #answer(host: Host, label: string, give: () => void): void {
    if (host.state === 'dead') return
    const isSlow = host.state === 'frozen' || this.#deps.choices.percent(this.#deps.slowPercent(label))
    if (!isSlow) {
      give()
      return
    }
    const { choices, scheduler } = this.#deps
    scheduler.park({
      actor: host.name,
      label: `gets a late answer from the database: ${label}`,
      host,
      dueMs: scheduler.nowMs + choices.pick(LATE_MS),
      run: give,
    })
  }

  #drawFault(label: string): 'lost before' | 'lost after' | undefined {
    const lost = this.#deps.lostPercent(label)
    const drawn = this.#deps.choices.weighted([100 - 2 * lost, lost, lost])
    return [undefined, 'lost before', 'lost after'][drawn] as 'lost before' | 'lost after' | undefined
  }
}

async function ended(running: Promise<unknown>): Promise<void> {
  await running.catch(() => {})
}
