import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

type Listed = { pid: number; parent: number; state: string }

/** Every process on the machine. On Linux, without `ps`, which a Node image does not have. */
function processes(): Listed[] {
  if (process.platform !== 'linux') return listedByPs()
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return []
    try {
      // pid (program) state parent …; a program's name may contain spaces and brackets.
      const [state, parent] = readFileSync(`/proc/${name}/stat`, 'utf8').split(') ').at(-1)!.split(' ')
      return [{ pid: Number(name), parent: Number(parent), state: state! }]
    } catch {
      return [] // It ended in the meantime.
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

/** A process that has ended, and that nobody has waited for, is a zombie. */
export function isAlive(pid: number): boolean {
  return processes().some((one) => one.pid === pid && !one.state.startsWith('Z'))
}

/** Its command line; empty if it has ended. */
export function commandOf(pid: number): string {
  try {
    if (process.platform !== 'linux')
      return execFileSync('ps', ['-p', String(pid), '-o', 'args='], { encoding: 'utf8' }).trim()
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
  } catch {
    return ''
  }
}
