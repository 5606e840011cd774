/**
 * How many attempts may be under way, so that no receiver and no customer takes more than a share. An output begins
 * unproven and with few, and gains more by responding, like a TCP window. Outputs that are unproven, slow or dead never
 * get more than half of the places, in their workspace and in all, so the prompt ones always find room.
 */
export type Shares = {
  /** How many attempts this output may begin now. */
  room(outputId: string, workspaceId: string): number
  take(outputId: string, workspaceId: string, count: number): void
  /** Gives back what was taken and not used. */
  giveBack(outputId: string, workspaceId: string, count: number): void
  /** An attempt has been under way for longer than `PROMPT_MS`: the output counts as slow from now on. */
  lag(outputId: string): void
  /** Ends an attempt, and adjusts the output's window to its pace. */
  end(outputId: string, workspaceId: string, pace: Pace): void
  full(): boolean
}

/** The receiver responded at once, late, or not at all. */
export type Pace = 'prompt' | 'late' | 'dead'

export type ShareLimits = { total: number; perWorkspace: number; perOutput: number }

const SHARE_LIMITS: ShareLimits = { total: 1000, perWorkspace: 200, perOutput: 40 }

export const PROMPT_MS = 2000
const FIRST_WINDOW = 2
const DEAD_WINDOW = 1
/** Outputs remembered while nothing of theirs is under way; the oldest are forgotten first. */
const REMEMBERED = 10_000

type Count = { all: number; slow: number }
type Output = { workspaceId: string; underWay: number; window: number; slow: boolean }

export function createShares(limits: ShareLimits = SHARE_LIMITS): Shares {
  const outputs = new Map<string, Output>()
  const workspaces = new Map<string, Count>()
  const total: Count = { all: 0, slow: 0 }

  const find = (id: string, workspaceId: string): Output =>
    outputs.get(id) ?? { workspaceId, underWay: 0, window: FIRST_WINDOW, slow: true }
  const inWorkspace = (id: string): Count => workspaces.get(id) ?? { all: 0, slow: 0 }
  const count = ({ workspaceId }: Output, all: number, slow: number) => {
    const workspace = inWorkspace(workspaceId)
    for (const each of [total, workspace]) {
      each.all += all
      each.slow += slow
    }
    if (workspace.all > 0) workspaces.set(workspaceId, workspace)
    else workspaces.delete(workspaceId)
  }
  const change = (id: string, workspaceId: string, by: number): Output => {
    const output = find(id, workspaceId)
    output.underWay += by
    count(output, by, output.slow ? by : 0)
    remember(outputs, id, output)
    return output
  }
  const turn = (output: Output, slow: boolean) => {
    if (output.slow === slow) return
    output.slow = slow
    count(output, 0, slow ? output.underWay : -output.underWay)
  }
  const free = (most: number, taken: Count, slow: boolean) =>
    Math.min(most - taken.all, slow ? Math.ceil(most / 2) - taken.slow : most)
  return {
    room(id, workspaceId) {
      const { slow, window, underWay } = find(id, workspaceId)
      const inAll = free(limits.total, total, slow)
      return Math.max(
        0,
        Math.min(window - underWay, inAll, free(limits.perWorkspace, inWorkspace(workspaceId), slow)),
      )
    },
    take: (id, workspaceId, n) => void change(id, workspaceId, n),
    giveBack: (id, workspaceId, n) => void change(id, workspaceId, -n),
    lag(id) {
      const output = outputs.get(id)
      if (output) turn(output, true)
    },
    end(id, workspaceId, pace) {
      const output = change(id, workspaceId, -1)
      turn(output, pace !== 'prompt')
      output.window = Math.min(nextWindow(output.window, pace), limits.perOutput)
    },
    full: () => total.all >= limits.total,
  }
}

/** The map is in the order of last use. */
function remember(outputs: Map<string, Output>, id: string, output: Output): void {
  outputs.delete(id)
  outputs.set(id, output)
  const [oldest] = outputs
  if (outputs.size > REMEMBERED && oldest![1].underWay === 0) outputs.delete(oldest![0])
}

function nextWindow(window: number, pace: Pace): number {
  if (pace === 'dead') return DEAD_WINDOW
  return pace === 'prompt' ? window * 2 : window + 1
}
