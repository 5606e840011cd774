/** How many of an owner's imports are waiting and running, on all nodes. */
export type ImportShare = { owner: string; waiting: number; running: number }

/** An import that this node is fetching. */
export type HeldPlace = { claim: string; owner: string }

/**
 * Chooses the imports that give up their places when all of a node's places are taken and other owners are waiting. An
 * owner only gives up a place if they still have at least as many afterwards as the owner who gets it, so that places do
 * not move back and forth. They give up the place of their newest import; `held` is in the order in which the imports
 * were requested.
 */
export function placesToYield(
  held: readonly HeldPlace[],
  shares: readonly ImportShare[],
): HeldPlace['claim'][] {
  const own = shares.map((share) => ({
    ...share,
    claims: held.filter(({ owner }) => owner === share.owner).map(({ claim }) => claim),
  }))
  const yielded: string[] = []
  for (;;) {
    const waits = own.filter(({ waiting }) => waiting > 0)
    const poorest = most(waits, ({ running }) => -running)
    const holds = own.filter(({ claims }) => claims.length > 0)
    const richest = most(holds, ({ running }) => running)
    if (!poorest || !richest || richest.running - poorest.running < 2) return yielded
    yielded.push(richest.claims.pop()!)
    richest.running -= 1
    poorest.running += 1
    poorest.waiting -= 1
  }
}

const most = <One>(all: One[], of: (one: One) => number): One | undefined =>
  all.reduce<One | undefined>((found, one) => (found && of(found) >= of(one) ? found : one), undefined)
