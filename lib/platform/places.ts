/**
 * Limits the number of open streams in this process, and per owner. When all places are taken, an owner with fewer
 * places takes one from the owner with the most, so that owners with many places do not lock out others, however many
 * owners there are.
 */
export type Places = {
  /** `giveUp` is called if an owner with fewer places has taken the place. */
  take(owner: string, giveUp: () => void): Taken
}

/** `leave` returns the place; after `giveUp` it does nothing. */
export type Taken = { leave(): void } | { refused: 'own share used' | 'all taken' }

type Place = { giveUp(): void }

export function createPlaces({ most, mostForEach }: { most: number; mostForEach: number }): Places {
  const taken = new Map<string, Set<Place>>()
  let all = 0
  const free = (owner: string, place: Place) => {
    const own = taken.get(owner)
    if (!own?.delete(place)) return
    all -= 1
    if (own.size === 0) taken.delete(owner)
  }
  const makeRoom = (size: number): boolean => {
    const [owner, greediest] = [...taken].reduce((one, other) => (other[1].size > one[1].size ? other : one))
    // Afterwards, the owner must still have at least as many places as the newcomer, or both would keep taking the
    // place from each other.
    if (greediest.size < size + 2) return false
    const newest = [...greediest].at(-1)!
    free(owner, newest)
    newest.giveUp()
    return true
  }
  return {
    take(owner, giveUp) {
      const size = taken.get(owner)?.size ?? 0
      if (size >= mostForEach) return { refused: 'own share used' }
      if (all >= most && !makeRoom(size)) return { refused: 'all taken' }
      const place = { giveUp }
      taken.set(owner, (taken.get(owner) ?? new Set()).add(place))
      all += 1
      return { leave: () => free(owner, place) }
    },
  }
}
