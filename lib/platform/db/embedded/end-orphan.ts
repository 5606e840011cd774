import { execFileSync } from 'node:child_process'
import { readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

/** How long each way of asking may take. */
const STEPS: [NodeJS.Signals, ms: number][] = [
  ['SIGINT', 10_000],
  ['SIGQUIT', 5000],
  ['SIGKILL', 1000],
]
const LOOK_EVERY_MS = 20

/**
 * Ends the PostgreSQL of a Sluice that was killed; whoever holds the folder's lock knows that it is nobody's any more. A
 * number in postmaster.pid that now belongs to somebody else, as after a container's restart, would keep PostgreSQL
 * from starting.
 */
export async function endOrphan(folder: string): Promise<void> {
  const file = join(folder, 'postmaster.pid')
  const pid = readPid(file)
  if (pid === undefined) return
  for (const [signal, ms] of STEPS) {
    if (!isPostmasterOf(pid, folder)) break
    process.kill(pid, signal)
    const deadlineMs = performance.now() + ms
    while (isPostmasterOf(pid, folder) && performance.now() < deadlineMs) await delay(LOOK_EVERY_MS)
  }
  if (readPid(file) === pid) rmSync(file, { force: true })
}

function readPid(file: string): number | undefined {
  try {
    const pid = Number.parseInt(readFileSync(file, 'utf8'), 10)
    return pid > 0 ? pid : undefined
  } catch {
    return undefined
  }
}

function isPostmasterOf(pid: number, folder: string): boolean {
  try {
    if (process.platform === 'linux') {
      const program = basename(readlinkSync(`/proc/${pid}/exe`)).replace(/ \(deleted\)$/, '')
      return program === 'postgres' && readlinkSync(`/proc/${pid}/cwd`) === realpathSync(folder)
    }
    process.kill(pid, 0)
    if (process.platform === 'win32') return true
    const command = execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' })
    return command.includes('postgres') && command.includes(folder)
  } catch {
    return false
  }
}
