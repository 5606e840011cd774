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
    return childrenOf(postmaster).reduce((sum, { cpu }) => sum + cpu, own.cpu + own.cpuOfEnded)
  }
}

/** The memory of all processes of a PostgreSQL server, in which each page that they share counts once. */
export function memoryOfPostgres(backend: number): number {
  const postmaster = statusOf(backend)!.parent
  return childrenOf(postmaster).reduce((sum, { pid }) => sum + pssOf(pid), pssOf(postmaster))
}

/** A process's share of the memory that it uses: a page that it shares with another process counts half. */
export function pssOf(pid: number): number {
  return Number(read(pid, 'smaps_rollup').match(/^Pss:\s+(\d+)/m)?.[1] ?? 0) * 1024
}

const childrenOf = (postmaster: number) =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => statusOf(Number(name)) ?? [])
    .filter(({ parent }) => parent === postmaster)

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
    pid,
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
