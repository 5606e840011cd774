import { readdirSync, readFileSync } from 'node:fs'
import type { Usage } from './processes.ts'

/** Linux clock ticks per second. */
const TICKS = 100

/**
 * The CPU seconds of all processes of a PostgreSQL server on this machine, including those that have exited. `backend`
 * is the PID of one of them.
 */
export function cpuOfPostgres(backend: number): () => number {
  const postmaster = statusOf(backend)!.parent
  return () => {
    const own = statusOf(postmaster)!
    const children = readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .flatMap((name) => statusOf(Number(name)) ?? [])
      .filter(({ parent }) => parent === postmaster)
    return children.reduce((sum, { cpu }) => sum + cpu, own.cpu + own.cpuOfEnded)
  }
}

/** The resource usage of any process on this machine. */
export function usageOf(pid: number): Usage {
  const rss = Number(read(pid, 'status').match(/^VmRSS:\s+(\d+)/m)?.[1] ?? 0)
  return { cpuSeconds: statusOf(pid)?.cpu ?? 0, rssBytes: rss * 1024 }
}

/** Undefined if the process has exited. */
function statusOf(pid: number) {
  const line = read(pid, 'stat')
  if (line === '') return undefined
  const fields = line
    .slice(line.lastIndexOf(') ') + 2)
    .split(' ')
    .map(Number)
  const [user, system, endedUser, endedSystem] = fields.slice(11, 15) as [number, number, number, number]
  return {
    parent: fields[1]!,
    cpu: (user + system) / TICKS,
    cpuOfEnded: (endedUser + endedSystem) / TICKS,
  }
}

/** Returns an empty string if the process has exited. */
function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}
