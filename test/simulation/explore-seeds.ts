import { type Explored, explore, type Site, tellSeed } from './explore.ts'

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
    say((await tellSeed(site, String(found.seed))).short ?? 'It does not fail again.')
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
