/** Whether the receiver responded promptly, late, or not at all. */
export type Pace = 'prompt' | 'late' | 'dead'

type ShareLimits = { total: number; perWorkspace: number; perOutput: number }

const SHARE_LIMITS: ShareLimits = { total: 1000, perWorkspace: 200, perOutput: 40 }

export const PROMPT_MS = 2000
const FIRST_WINDOW = 2
const DEAD_WINDOW = 1
/** How many outputs without attempts in progress are remembered. The least recently used are forgotten first. */
const REMEMBERED = 10_000

type Count = { all: number; slow: number }
type Output = { workspaceId: string; underWay: number; window: number; slow: boolean }

/**
 * Limits how many attempts may be in progress, so that no receiver and no customer takes more than a fair share. An
 * output starts with a small window, which grows with each response, as in TCP. New, slow and unresponsive outputs
 * together never get more than half of the places, in their workspace and overall, so that there is always room for
 * prompt ones.
 */
export class Shares {
  readonly #limits: ShareLimits
  readonly #outputs = new Map<string, Output>()
  readonly #workspaces = new Map<string, Count>()
  readonly #total: Count = { all: 0, slow: 0 }

  constructor(limits: ShareLimits = SHARE_LIMITS) {
    this.#limits = limits
  }

  /** How many attempts this output may start now. */
  room(outputId: string, workspaceId: string): number {
    const { slow, window, underWay } = this.#find(outputId, workspaceId)
    const inAll = free(this.#limits.total, this.#total, slow)
    const inWorkspace = free(this.#limits.perWorkspace, this.#inWorkspace(workspaceId), slow)
    return Math.max(0, Math.min(window - underWay, inAll, inWorkspace))
  }

  take(outputId: string, workspaceId: string, count: number): void {
    this.#change(outputId, workspaceId, count)
  }

  /** Returns places that were taken and not used. */
  giveBack(outputId: string, workspaceId: string, count: number): void {
    this.#change(outputId, workspaceId, -count)
  }

  /** Called when an attempt has been in progress for longer than `PROMPT_MS`: the output now counts as slow. */
  lag(outputId: string): void {
    const output = this.#outputs.get(outputId)
    if (output) this.#turn(output, { slow: true })
  }

  /** Ends an attempt, and adjusts the output's window to its pace. */
  end(outputId: string, workspaceId: string, pace: Pace): void {
    const output = this.#change(outputId, workspaceId, -1)
    this.#turn(output, { slow: pace !== 'prompt' })
    output.window = Math.min(nextWindow(output.window, pace), this.#limits.perOutput)
  }

  full(): boolean {
    return this.#total.all >= this.#limits.total
  }

  #change(id: string, workspaceId: string, by: number): Output {
    const output = this.#find(id, workspaceId)
    output.underWay += by
    this.#count(output, by, output.slow ? by : 0)
    remember(this.#outputs, id, output)
    return output
  }

  #turn(output: Output, { slow }: { slow: boolean }): void {
    if (output.slow === slow) return
    output.slow = slow
    this.#count(output, 0, slow ? output.underWay : -output.underWay)
  }

  #count({ workspaceId }: Output, all: number, slow: number): void {
    const workspace = this.#inWorkspace(workspaceId)
    for (const each of [this.#total, workspace]) {
      each.all += all
      each.slow += slow
    }
    if (workspace.all > 0) this.#workspaces.set(workspaceId, workspace)
    else this.#workspaces.delete(workspaceId)
  }

  #find(id: string, workspaceId: string): Output {
    return this.#outputs.get(id) ?? { workspaceId, underWay: 0, window: FIRST_WINDOW, slow: true }
  }

  #inWorkspace(id: string): Count {
    return this.#workspaces.get(id) ?? { all: 0, slow: 0 }
  }
}

function free(most: number, taken: Count, slow: boolean): number {
  return Math.min(most - taken.all, slow ? Math.ceil(most / 2) - taken.slow : most)
}

/** Keeps the map in the order of last use. */
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
