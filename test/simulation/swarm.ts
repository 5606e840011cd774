import { createHash } from 'node:crypto'

/**
 * Swarm testing: a run singles out some of the things that have a name, such as a kind of statement, and treats them
 * differently from the others. It reaches orders in which one thing is nearly always late, or nearly always lost, while
 * everything else goes well. One choice decides this for all names; 0 singles out nothing.
 */
export class Swarm {
  readonly #draw: number

  constructor(draw: number) {
    this.#draw = draw
  }

  /** A number below `count`, always the same for this name; 0 if nothing is singled out. */
  below(count: number, name: string): number {
    if (this.#draw === 0) return 0
    return createHash('md5').update(`${this.#draw} ${name}`).digest().readUInt32LE() % count
  }

  /**
   * In half of the runs, picks a level separately for each name of this kind; in the rest, every name gets the first
   * level.
   */
  pick<Level>(levels: readonly Level[], kind: string, name: string): Level {
    if (this.below(2, kind) === 0) return levels[0]!
    return levels[this.below(levels.length, `${kind} ${name}`)]!
  }
}
