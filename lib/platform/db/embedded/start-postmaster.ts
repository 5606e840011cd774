import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Writable } from 'node:stream'
import type { Logger } from '../../log/log.ts'
import type { Place } from '../database.ts'
import type { Programs } from './programs.ts'
import { environment, HERE, type RunAs } from './run-as.ts'

export type Postmaster = {
  pid: number
  /** Resolves when the server has ended, with its last error message, if any. */
  ended: Promise<string>
  /**
   * Waits briefly for sessions to end, terminates those that remain, writes everything to disk, and stops the server.
   */
  stop(): Promise<void>
}

export type PostmasterOptions = {
  programs: Programs
  folder: string
  place: Place
  as: RunAs | undefined
  log: Logger
  settings?: Record<string, string | number>
}

/**
 * A shell script that starts a watcher and then replaces itself with PostgreSQL. When Sluice exits for any reason, its
 * end of the pipe closes, and the watcher stops PostgreSQL. The watcher is orphaned on purpose, because PostgreSQL
 * monitors its own child processes.
 */
const WATCHED = '(trap \'\' HUP INT TERM; (read -r _ <&3 || kill -INT $$) 2>/dev/null &) ; exec "$@" 3<&-'

/** How long the sessions of a killed server may take to notice that it is gone. */
const REMAINS_MS = 5000

/**
 * How long sessions may take to notice that their clients have left. Sessions that take longer are terminated, which
 * logs an error.
 */
const SESSIONS_MS = 2000

/** Resolves when PostgreSQL accepts connections. Rejects with its last error message if it exits first. */
export async function startPostmaster(options: PostmasterOptions): Promise<Postmaster> {
  const child = launch(options)
  const failed = once(child, 'error').then(([error]) => String(error))
  const said: string[] = []
  const ready = Promise.withResolvers<void>()
  createInterface(child.stderr!).on('line', (line) => {
    note(options.log, line)
    if (/^(FATAL|PANIC|ERROR|postgres):/.test(line)) said.push(line.replace(/^\w+: +/, ''))
    if (/database system is ready to accept (read-only )?connections$/.test(line)) ready.resolve()
  })
  const ended = Promise.race([failed, end(child)]).then((how) => said.at(-1) ?? how)
  await Promise.race([ready.promise, ended.then((why) => Promise.reject(new Error(why)))])
  return { pid: child.pid!, ended, stop: () => stop(child, options).then(() => void ended) }
}

function launch({ programs, folder, place, as, settings }: PostmasterOptions): ChildProcess {
  const here = HERE ?? folder
  const onSocket = place.host === folder
  const all = {
    ...SERVER_SETTINGS,
    port: place.port,
    listen_addresses: onSocket ? '' : place.host,
    unix_socket_directories: onSocket ? here : '',
    ...settings,
  }
  const program = join(programs.folder, 'bin', 'postgres')
  const args = ['-D', here, ...Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])]
  // PostgreSQL runs in its own session, so that Ctrl-C only reaches Sluice, which then stops PostgreSQL.
  const run = { ...as, cwd: folder, env: environment(), detached: true }
  return process.platform === 'win32'
    ? spawn(program, args, { ...run, detached: false, stdio: ['ignore', 'ignore', 'pipe'] })
    : spawn('/bin/sh', ['-c', WATCHED, 'sh', program, ...args], {
        ...run,
        stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
      })
}

async function end(child: ChildProcess): Promise<string> {
  const line = child.stdio[3] as Writable | undefined
  line?.on('error', () => {})
  const closed = once(child, 'close')
  const [code, signal] = await once(child, 'exit')
  line?.end('\n')
  const patience = Promise.withResolvers<void>()
  const timer = setTimeout(patience.resolve, REMAINS_MS)
  await Promise.race([closed, patience.promise])
  clearTimeout(timer)
  return `PostgreSQL ended with ${signal ?? code}.`
}

async function stop(child: ChildProcess, { programs, folder }: PostmasterOptions): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  if (process.platform === 'win32') {
    // Windows has no SIGTERM, but pg_ctl can stop the server without a signal.
    execFile(join(programs.folder, 'bin', 'pg_ctl'), ['stop', '-m', 'fast', '-D', folder], () => {})
    await exited
    return
  }
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGINT'), SESSIONS_MS)
  await exited
  clearTimeout(timer)
}

function note(log: Logger, line: string): void {
  const level = /^(FATAL|PANIC):/.test(line) ? 'warn' : 'debug'
  log[level]({ postgres: line }, 'PostgreSQL')
}

/**
 * PostgreSQL's settings for a small machine, passed on its command line at each start, so that a new version of Sluice
 * applies its own settings. They are as durable as the defaults; features that a single Sluice instance does not need
 * are turned off.
 */
export const SERVER_SETTINGS: Record<string, string | number> = {
  shared_buffers: '24MB',
  // Enough for sixteen upload processes; unused connections cost next to nothing.
  max_connections: 200,
  work_mem: '4MB',
  maintenance_work_mem: '32MB',
  // Allows up to half a gigabyte of write-ahead log between two checkpoints.
  max_wal_size: '512MB',
  min_wal_size: '64MB',
  wal_level: 'minimal',
  max_wal_senders: 0,
  max_logical_replication_workers: 0,
  max_worker_processes: 0,
  max_parallel_workers: 0,
  max_parallel_workers_per_gather: 0,
  max_parallel_maintenance_workers: 0,
  autovacuum_max_workers: 1,
  autovacuum_worker_slots: 1,
  io_method: 'sync',
  jit: 'off',
  huge_pages: 'off',
  // /dev/shm has 64 MiB in a container.
  dynamic_shared_memory_type: 'mmap',
  // Logs starts, stops and crashes, but not failed statements, which only concern the client and may contain secrets.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_checkpoints: 'off',
  log_line_prefix: '',
}
