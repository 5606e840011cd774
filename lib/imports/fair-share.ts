/** How many of a workspace's imports are waiting and running, on all nodes. */
export type WaitingWorkspace = { workspaceId: string; waiting: number; running: number }

/**
 * An import that this node is fetching; `running` is how many of its workspace's imports are being fetched,
 * on all nodes.
 */
export type HeldPlace = { claim: string; workspaceId: string; running: number }

/**
 * Chooses the imports that give up their places when all of a node's places are taken and other workspaces are waiting.
 * A workspace only gives up a place if it still has at least as many afterwards as the workspace that gets it, so that
 * places do not move back and forth. It gives up the place of its newest import; `held` is in the order in which the
 * imports were requested.
 */
export function placesToYield(
  held: readonly HeldPlace[],
  waiting: readonly WaitingWorkspace[],
): HeldPlace['claim'][] {
  const own = new Map<string, { running: number; claims: string[] }>()
  for (const { workspaceId, running, claim } of held)
    own.set(workspaceId, { running, claims: [...(own.get(workspaceId)?.claims ?? []), claim] })
  const others = waiting.map((one) => ({ ...one }))
  const yielded: string[] = []
  for (;;) {
    const poorest = least(others.filter((one) => one.waiting > 0))
    const richest = most([...own.values()].filter(({ claims }) => claims.length > 0))
    if (!poorest || !richest || richest.running - poorest.running < 2) return yielded
    yielded.push(richest.claims.pop()!)
    richest.running -= 1
    poorest.running += 1
    poorest.waiting -= 1
  }
}

type Running = { running: number }
const least = <One extends Running>(all: One[]): One | undefined =>
  all.reduce<One | undefined>(
    (found, one) => (found && found.running <= one.running ? found : one),
    undefined,
  )
const most = <One extends Running>(all: One[]): One | undefined =>
  all.reduce<One | undefined>(
    (found, one) => (found && found.running >= one.running ? found : one),
    undefined,
  )
