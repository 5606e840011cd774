import type { ChildProcess } from 'node:child_process'
import { rmSync } from 'node:fs'

/** Child processes to end and temporary folders to remove when this process exits, even if a test fails. */
const children = new Map<ChildProcess, NodeJS.Signals>()
const folders = new Set<string>()

process.once('exit', () => {
  for (const [child, signal] of children) child.kill(signal)
  for (const folder of folders) remove(folder)
})

/** The default is SIGKILL, since no other signal ends a frozen process. */
export function endWithThisProcess(child: ChildProcess, by: NodeJS.Signals = 'SIGKILL'): void {
  children.set(child, by)
  child.once('exit', () => children.delete(child))
}

/** Returns a function that removes the folder earlier. */
export function removeWithThisProcess(folder: string): () => void {
  folders.add(folder)
  return () => {
    remove(folder)
    folders.delete(folder)
  }
}

/** A process that is just exiting may still write to the folder. */
function remove(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 })
}
