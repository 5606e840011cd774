import type { Workspace } from './memory-budget.ts'
import type { Shares } from './memory-shares.ts'

/** What buckets answer is kept where there is memory for it, or not at all: nothing waits. */
export type AnswerMemory = {
  /** False: there is none. */
  take(bytes: number): boolean
  give(bytes: number): void
}

/** While memory is short, the answers to one workspace have a quarter of what there is for answers. */
const WORKSPACE_FRACTION = 1 / 4

export function answerMemory(
  { limitBytes, partBytes, answerBytes }: Shares,
  workspace: Workspace,
  memory: { usedBytes(): number; change(workspace: Workspace, bytes: number): void },
): AnswerMemory {
  const fits = (bytes: number) => {
    const usedBytes = memory.usedBytes() + bytes
    if (usedBytes <= partBytes) return true
    return usedBytes <= limitBytes && workspace.answerBytes + bytes <= answerBytes * WORKSPACE_FRACTION
  }
  const change = (bytes: number) => {
    workspace.answerBytes += bytes
    memory.change(workspace, bytes)
  }
  return {
    take(bytes) {
      if (!fits(bytes)) return false
      change(bytes)
      return true
    },
    give: (bytes) => change(-bytes),
  }
}
