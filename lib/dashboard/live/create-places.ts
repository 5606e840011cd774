/** So many streams may be open in this process, and so many of them for one user. */
export type Places = {
  /** Gives the place back when it is called; undefined where there is none. */
  take(userId: string): (() => void) | undefined
}

export function createPlaces({ most, mostForEach }: { most: number; mostForEach: number }): Places {
  const taken = new Map<string, number>()
  let all = 0
  const change = (userId: string, by: 1 | -1) => {
    all += by
    const own = (taken.get(userId) ?? 0) + by
    if (own === 0) taken.delete(userId)
    else taken.set(userId, own)
  }
  return {
    take(userId) {
      if (all >= most || (taken.get(userId) ?? 0) >= mostForEach) return undefined
      change(userId, 1)
      let given = false
      return () => {
        if (!given) change(userId, -1)
        given = true
      }
    },
  }
}
