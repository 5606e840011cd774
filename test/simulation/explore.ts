import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { createDatabase, type TestDatabase } from '../support/postgres.ts'
import type { Deaths } from './deaths.ts'

/** A worker's task: to run a seed, to describe it as a story, or to have nodes die at each step of a plot. */
export type Task = { seed: string; tells?: boolean } | { plot: number }
export type Explored = {
  hash: string
  steps: number
  interleaving: string
  /** How often each invariant was checked. */
  checks: Record<string, number>
  failure?: string
  /** Of a seed that fails, in case it does not fail again. */
  story?: string | undefined
}
export type Stories = { whole: string; short?: string }

export type Site = {
  serverUrl: string
  /** The name of a migrated database on that server. */
  template: string
  /** The fault planted in the core. */
  fault: string | undefined
}

/** A separate process with its own database. */
class Worker {
  readonly #process: ChildProcess
  readonly #database: TestDatabase
  #heard = Promise.withResolvers<unknown>()

  private constructor(process: ChildProcess, database: TestDatabase) {
    this.#process = process
    this.#database = database
    process.on('message', (message) => this.#heard.resolve(message))
    this.#heard.promise.catch(() => {})
    process.on('exit', () => this.#heard.reject(new Error('A worker has exited.')))
  }

  static async start({ serverUrl, template, fault }: Site): Promise<Worker> {
    const database = await createDatabase(serverUrl, template)
    const path = fileURLToPath(new URL('worker.ts', import.meta.url))
    const worker = new Worker(fork(path, [database.url, ...(fault === undefined ? [] : [fault])]), database)
    await worker.#heard.promise
    return worker
  }

  async explore(seed: string): Promise<Explored> {
    return (await this.#ask({ seed })) as Explored
  }

  async tell(seed: string): Promise<Stories> {
    return (await this.#ask({ seed, tells: true })) as Stories
  }

  async dieIn(plot: number): Promise<Deaths | null> {
    return (await this.#ask({ plot })) as Deaths | null
  }

  async close(): Promise<void> {
    // The worker exits once it has no parent.
    if (this.#process.connected) {
      this.#process.disconnect()
      await once(this.#process, 'exit')
    }
    await this.#database.drop()
  }

  #ask(task: Task): Promise<unknown> {
    this.#heard = Promise.withResolvers()
    this.#process.send(task)
    return this.#heard.promise
  }
}

export async function tellSeed(site: Site, seed: string): Promise<Stories> {
  const worker = await Worker.start(site)
  return worker.tell(seed).finally(() => worker.close())
}

type Dying = { processes: number; say(line: string): void }

/** Returns true if no death breaks an invariant. See deaths.ts. */
export async function exploreDeaths(site: Site, { processes, say }: Dying): Promise<boolean> {
  let plots = 0
  let areWell = true
  const work = async () => {
    const worker = await Worker.start(site)
    try {
      for (let found = await worker.dieIn(plots++); found; found = await worker.dieIn(plots++)) {
        const { name, deaths, failure } = found
        say(`${name}: ${deaths} deaths, ${failure?.invariant ?? 'each of them survived'}`)
        if (failure) say(failure.story)
        areWell &&= !failure
      }
    } finally {
      await worker.close()
    }
  }
  await Promise.all(Array.from({ length: processes }, work))
  return areWell
}

export type Exploration = {
  from: number
  seeds: number
  processes: number
  /** Ends the exploration. The results of seeds in progress are discarded. */
  signal: AbortSignal
  /** Called with every completed seed. All before `next` are done. */
  onRun?: (seed: number, run: Explored, next: number) => void
}
export type Found = { seed: number; failure: string; story: string | undefined }

/** Runs one seed after another until one fails, and returns the lowest seed that fails. All before `next` are done. */
export async function explore(
  site: Site,
  { from, seeds, processes, signal, onRun }: Exploration,
): Promise<{ found: Found | undefined; next: number }> {
  const done = new DoneSeeds(from)
  let next = from
  let end = from + seeds
  let found: Found | undefined
  const work = async () => {
    const worker = await Worker.start(site)
    try {
      while (next < end && !signal.aborted) {
        const seed = next++
        const run = await worker.explore(String(seed))
        if (signal.aborted) break
        done.add(seed)
        onRun?.(seed, run, done.next)
        if (run.failure === undefined || seed >= end) continue
        found = { seed, failure: run.failure, story: run.story }
        end = seed
      }
    } finally {
      await worker.close()
    }
  }
  await Promise.all(Array.from({ length: Math.min(processes, seeds) }, work))
  return { found, next: done.next }
}

/** Keeps track of finished seeds, which several processes finish in any order. */
class DoneSeeds {
  readonly #beyond = new Set<number>()
  /** The lowest unfinished seed. */
  next: number

  constructor(from: number) {
    this.next = from
  }

  add(seed: number): void {
    this.#beyond.add(seed)
    while (this.#beyond.delete(this.next)) this.next += 1
  }
}

const REPORT_EVERY_MS = 5_000

export type SeedsToExplore = {
  from: number
  seeds: number
  processes: number
  signal: AbortSignal
  /** Prints the hash of each run. */
  hashes: boolean
  say: (line: string) => void
}

/** Returns true if no seed fails. Prints its progress periodically, and when it is interrupted. */
export async function exploreSeeds(site: Site, options: SeedsToExplore): Promise<boolean> {
  const { from, seeds, say, signal } = options
  say(`seeds ${from} to ${from + seeds - 1}, in ${options.processes} processes`)
  const tally = new Tally()
  const timer = setInterval(() => say(tally.inWords()), REPORT_EVERY_MS)
  const { found, next } = await explore(site, {
    ...options,
    onRun: (seed, run) => tally.add(seed, run),
  }).finally(() => clearInterval(timer))
  if (options.hashes) for (const line of tally.hashes()) say(line)
  say(tally.inWords())
  for (const line of tally.checks()) say(line)
  if (found) {
    say(`SEED ${found.seed}: ${found.failure}`)
    say((await tellSeed(site, String(found.seed))).short ?? `It does not fail again.\n${found.story}`)
    say(`repeat with: npm run simulate -- --seed ${found.seed}`)
  } else if (signal.aborted) {
    say(`Interrupted after ${next - from} seeds in a row, none of which has failed.`)
    say(`continue with: npm run simulate -- --from ${next} --seeds ${from + seeds - next}`)
  }
  return !found && !signal.aborted
}

/** The results of all runs. */
class Tally {
  readonly #startedMs = performance.now()
  readonly #interleavings = new Set<string>()
  readonly #hashes = new Map<number, string>()
  readonly #checks = new Map<string, number>()
  #steps = 0

  add(seed: number, { steps, interleaving, hash, checks }: Explored): void {
    this.#steps += steps
    this.#interleavings.add(interleaving)
    this.#hashes.set(seed, hash)
    for (const [invariant, times] of Object.entries(checks))
      this.#checks.set(invariant, (this.#checks.get(invariant) ?? 0) + times)
  }

  inWords(): string {
    const runs = this.#hashes.size
    const seconds = (performance.now() - this.#startedMs) / 1000
    const perSecond = (runs / seconds).toFixed(1)
    return `${runs} seeds, ${this.#steps} steps, ${this.#interleavings.size} interleavings, ${Math.round(seconds)} s, ${perSecond} seeds a second`
  }

  hashes(): string[] {
    return [...this.#hashes].sort(([a], [b]) => a - b).map(([seed, hash]) => `${seed} ${hash}`)
  }

  checks(): string[] {
    return [...this.#checks].sort().map(([invariant, times]) => `${String(times).padStart(12)}  ${invariant}`)
  }
}
