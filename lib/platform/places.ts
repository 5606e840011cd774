/** So many streams may be open in this process, and so many of them for one owner. */
type Places = {
  /** Gives the place back when it is called; undefined where there is none. */
  take(owner: string): (() => void) | undefined
}

export function createPlaces({ most, mostForEach }: { most: number; mostForEach: number }): Places {
  const taken = new Map<string, number>()
  let all = 0
  const change = (owner: string, by: 1 | -1) => {
    all += by
    const own = (taken.get(owner) ?? 0) + by
    if (own === 0) taken.delete(owner)
    else taken.set(owner, own)
  }
  return {
    take(owner) {
      if (all >= most || (taken.get(owner) ?? 0) >= mostForEach) return undefined
      change(owner, 1)
      let given = false
      return () => {
        if (!given) change(owner, -1)
        given = true
      }
    },
  }
}
