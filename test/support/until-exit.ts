import type { ChildProcess } from 'node:child_process'
import { rmSync } from 'node:fs'

/** Whatever becomes of a test or a run, nothing that it started or wrote outlives it. */
const children = new Map<ChildProcess, NodeJS.Signals>()
const folders = new Set<string>()

process.once('exit', () => {
  for (const [child, signal] of children) child.kill(signal)
  for (const folder of folders) remove(folder)
})

/** A frozen process ends by SIGKILL only. */
export function endWithThisProcess(child: ChildProcess, by: NodeJS.Signals = 'SIGKILL'): void {
  children.set(child, by)
  child.once('exit', () => children.delete(child))
}

/** Answers with a function that removes it earlier. */
export function removeWithThisProcess(folder: string): () => void {
  folders.add(folder)
  return () => {
    remove(folder)
    folders.delete(folder)
  }
}

/** Somebody who is just ending may still write into it. */
function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 })
}
