import type { Choices } from './choices.ts'
import type { Verdict } from './core.ts'
import type { Host, Scheduler } from './scheduler.ts'

type State = Verdict['state']
type Answer = State | 'silent'

export type ReceiverDeps = {
  scheduler: Scheduler
  choices: Choices
  isTroubled(): boolean
  /** The file's name in a story. */
  nameOf(fileId: string): string
  /** Calls a node's API. Resolves to false if no node is up, or if the node fails or dies before it responds. */
  decide(fileId: string, allow: boolean): Promise<boolean>
}

/** After this time, a node stops waiting for an answer, and the hook's setting decides. */
const SILENT_MS = 10_000
const LATE_MS = [0, 0, 500, 8_000]
/** When a backend decides about a file it has deferred. */
const DEFERRED_MS = [10, 1_000, 15_000, 60_000]

/**
 * The customer's backend, which decides about files before their objects are created. It answers late, twice or never,
 * and possibly differently when it is asked again. The ledger decides which answer is valid.
 */
export class Receiver {
  readonly #deps: ReceiverDeps
  /** Every decision made about each file, as `by state`. */
  readonly #said = new Map<string, Set<string>>()
  /** Files that it has deferred and never decides about. */
  readonly forgotten = new Set<string>()
  /** Its first answer, its second, and so on, if they are not random. */
  answers: readonly Answer[] = []
  #asked = 0

  constructor(deps: ReceiverDeps) {
    this.#deps = deps
  }

  /** `name` is the client's name. */
  hasForgotten(name: string): boolean {
    return [...this.forgotten].some((fileId) => this.#deps.nameOf(fileId) === name)
  }

  hasSaid(fileId: string, by: string, state: string): boolean {
    return this.#said.get(fileId)?.has(`${by} ${state}`) === true
  }

  /** Stands in for the hook request and the receiver's answer. */
  async ask(host: Host, fileId: string): Promise<Verdict> {
    const { scheduler, choices, nameOf } = this.#deps
    const name = nameOf(fileId)
    const asking = { actor: host.name, label: `asks the receiver about ${name}`, host, mayOutlive: true }
    const verdict = await scheduler.parked(asking, () => this.#answer(fileId))
    const lateMs = verdict.by === 'default' ? SILENT_MS : choices.pick(LATE_MS)
    const label = `hears from the receiver that ${name} is ${verdict.state}`
    return scheduler.parked({ actor: host.name, label, host, dueMs: scheduler.nowMs + lateMs }, () => verdict)
  }

  #answer(fileId: string): Verdict {
    const { choices, isTroubled } = this.#deps
    const states: Answer[] = ['allowed', 'rejected', 'deferred', 'silent']
    const drawn = states[choices.weighted(isTroubled() ? [55, 15, 20, 10] : [90, 5, 5, 0])]!
    const state = this.answers.at(Math.min(this.#asked++, this.answers.length - 1)) ?? drawn
    if (state === 'silent')
      return this.#say(fileId, { state: 'rejected', by: 'default', reason: 'no_answer' })
    if (isTroubled() && choices.percent(10)) this.#decideLater(fileId, 0)
    if (state === 'deferred') {
      if (this.answers.length === 0 && choices.percent(10)) this.forgotten.add(fileId)
      else this.#decideLater(fileId, choices.pick(DEFERRED_MS))
      return this.#say(fileId, { state, by: 'receiver' })
    }
    if (state === 'rejected')
      return this.#say(fileId, { state, by: 'receiver', reason: 'The backend rejects it.' })
    return this.#say(fileId, { state, by: 'receiver', result: { seen: true } })
  }

  /** Repeats the call until a node has responded, possibly with a different decision. */
  #decideLater(fileId: string, ms: number): void {
    const { scheduler, choices, decide, nameOf } = this.#deps
    const allow = !choices.percent(30)
    const label = `${allow ? 'allows' : 'rejects'} ${nameOf(fileId)} by the API`
    const run = () => {
      this.#note(fileId, 'api', allow ? 'allowed' : 'rejected')
      void decide(fileId, allow).then((isAnswered) => {
        if (!isAnswered) this.#decideLater(fileId, 5_000)
      })
    }
    scheduler.park({ actor: 'backend', label, dueMs: scheduler.nowMs + ms, run })
  }

  #say<Said extends Verdict>(fileId: string, said: Said): Said {
    this.#note(fileId, said.by, said.state)
    return said
  }

  #note(fileId: string, by: string, state: State): void {
    this.#said.set(fileId, (this.#said.get(fileId) ?? new Set()).add(`${by} ${state}`))
  }
}
