import { createHash } from 'node:crypto'
import { type Scheduler, START_MS, type Step } from './scheduler.ts'

type Line = { atMs: number; text: string; quiet: boolean }

/** What happened, in order. Two runs are the same if their hashes are equal. */
export class Trace {
  readonly lines: Line[] = []
  steps = 0
  /** Steps that are not timers. */
  loudSteps = 0
  readonly #scheduler: Scheduler
  readonly #hash = createHash('sha256')

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler
  }

  step({ actor, label, quiet = false }: Step): void {
    this.steps += 1
    if (!quiet) this.loudSteps += 1
    this.#add(sentenceOf({ actor, label }), quiet)
  }

  note(text: string): void {
    this.#add(text, false)
  }

  hash(): string {
    return this.#hash.copy().digest('hex').slice(0, 16)
  }

  #add(text: string, quiet: boolean): void {
    const atMs = this.#scheduler.nowMs - START_MS
    this.#hash.update(`${atMs} ${text}\n`)
    this.lines.push({ atMs, text, quiet })
  }
}

export function sentenceOf({ actor, label }: Pick<Step, 'actor' | 'label'>): string {
  if (actor.startsWith('bucket-')) return `${actor} ${label}`
  if (/^[A-C]\d+$/.test(actor)) return `node ${actor} ${label}`
  return actor.startsWith('file-') ? `the client of ${actor} ${label}` : `the ${actor} ${label}`
}
