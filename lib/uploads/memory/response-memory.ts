import type { Workspace } from './memory-budget.ts'
import type { Shares } from './memory-shares.ts'

/** Memory for the responses of buckets. A response that does not fit is refused rather than made to wait. */
export type ResponseMemory = {
  /** Returns false if there is not enough. */
  take(bytes: number): boolean
  give(bytes: number): void
}

/** While memory is short, one workspace may use this share of the memory for responses. */
const WORKSPACE_FRACTION = 1 / 4

export function responseMemory(
  { limitBytes, partBytes, responseBytes }: Shares,
  workspace: Workspace,
  memory: { usedBytes(): number; change(workspace: Workspace, bytes: number): void },
): ResponseMemory {
  const fits = (bytes: number) => {
    const usedBytes = memory.usedBytes() + bytes
    if (usedBytes <= partBytes) return true
    return usedBytes <= limitBytes && workspace.responseBytes + bytes <= responseBytes * WORKSPACE_FRACTION
  }
  const change = (bytes: number) => {
    workspace.responseBytes += bytes
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
