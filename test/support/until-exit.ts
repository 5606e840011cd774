import type { ChildProcess } from 'node:child_process'
import { rmSync } from 'node:fs'

/** Whatever happens to a test or a run, nothing that it started or wrote outlives it. */
const children = new Map<ChildProcess, NodeJS.Signals>()
const folders = new Set<string>()

process.once('exit', () => {
  for (const [child, signal] of children) child.kill(signal)
  for (const folder of folders) remove(folder)
})

/** Only SIGKILL ends a frozen process. */
export function endWithThisProcess(child: ChildProcess, by: NodeJS.Signals = 'SIGKILL'): void {
  children.set(child, by)
  child.once('exit', () => children.delete(child))
}

/** Returns a function that removes it earlier. */
export function removeWithThisProcess(folder: string): () => void {
  folders.add(folder)
  return () => {
    remove(folder)
    folders.delete(folder)
  }
}

/** A process that is just ending may still write to it. */
function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 })
}
