import { type Random, randomOf } from '../support/random.ts'

/**
 * Every decision in a run. They come from a seed, or from a list that replays and shrinks an earlier run. Choice 0 is
 * always the simplest: no fault, the oldest step, the smallest number. A shorter list, padded with zeros, is
 * therefore a simpler run.
 */
export class Choices {
  /** The choices made, for a replay. */
  readonly made: number[] = []
  readonly #random: Random | undefined
  readonly #given: readonly number[]

  constructor(from: { seed: string } | { given: readonly number[] }) {
    this.#random = 'seed' in from ? randomOf(from.seed) : undefined
    this.#given = 'given' in from ? from.given : []
  }

  below(count: number): number {
    if (count <= 1) return 0
    return this.#make(count, (random) => random.whole(0, count - 1))
  }

  whole(min: number, max: number): number {
    return min + this.below(max - min + 1)
  }

  pick<Thing>(from: readonly Thing[]): Thing {
    return from[this.below(from.length)]!
  }

  /** The index of one of these weights, which are integers. The first must not be 0. */
  weighted(weights: readonly number[]): number {
    const total = weights.reduce((sum, weight) => sum + weight, 0)
    if (total === weights[0]) return 0
    const index = this.#make(weights.length, (random) => {
      let left = random.whole(0, total - 1)
      return weights.findIndex((weight) => {
        left -= weight
        return left < 0
      })
    })
    return weights[index] === 0 ? 0 : index
  }

  /** True in this percentage of cases. */
  percent(chance: number): boolean {
    return this.weighted([100 - chance, chance]) === 1
  }

  #make(count: number, draw: (random: Random) => number): number {
    const given = this.#given[this.made.length] ?? 0
    const choice = this.#random ? draw(this.#random) : given % count
    this.made.push(choice)
    return choice
  }
}
