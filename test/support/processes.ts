import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

type Listed = { pid: number; parent: number; state: string }

/** Lists every process on this machine. On Linux, it does not use `ps`, which Node images do not include. */
function processes(): Listed[] {
  if (process.platform !== 'linux') return listedByPs()
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      // pid (program) state parent …; a program's name may contain spaces and parentheses.
      const [state, parent] = readFileSync(`/proc/${name}/stat`, 'utf8').split(') ').at(-1)!.split(' ')
      return [{ pid: Number(name), parent: Number(parent), state: state! }]
    } catch {
      return [] // The process has exited in the meantime.
    }
  })
}

function listedByPs(): Listed[] {
  return execFileSync('ps', ['-A', '-o', 'pid=,ppid=,stat='], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .map(([pid, parent, state]) => ({ pid: Number(pid), parent: Number(parent), state: state! }))
}

export function descendantsOf(pid: number): number[] {
  const all = processes()
  const below = (of: number): number[] =>
    all.filter(({ parent }) => parent === of).flatMap((child) => [child.pid, ...below(child.pid)])
  return below(pid)
}

/** Zombies do not count as alive: they have exited, but their parent has not waited for them yet. */
export function isAlive(pid: number): boolean {
  return processes().some((one) => one.pid === pid && !one.state.startsWith('Z'))
}

/** A process's command line; empty if it has exited. */
export function commandOf(pid: number): string {
  try {
    if (process.platform !== 'linux')
      return execFileSync('ps', ['-p', String(pid), '-o', 'args='], { encoding: 'utf8' }).trim()
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
  } catch {
    return ''
  }
}
