import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Readable } from 'node:stream'
import { endWithThisProcess, removeWithThisProcess } from './until-exit.ts'

export type Sluice = {
  baseUrl: string
  pid: number
  child: ChildProcess
  /** Everything it has printed so far. */
  output(): string
  /** Sends SIGTERM; returns the exit code. */
  stop(): Promise<number | null>
  /** kill -9 */
  kill(): Promise<void>
}

/** As in `npm start` and the image. */
export const NODE_FLAGS = ['--max-semi-space-size=16']
/** As in every script in package.json. */
export const PRELOADED = ['-r', join(import.meta.dirname, '../../scripts/resolve-drizzle.cjs')]
/** As in the image, the systemd unit and the package. */
export const MALLOC = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '81920',
  MALLOC_TRIM_THRESHOLD_: '131072',
}

/** Shared by all processes in the run, which load the same modules. */
export const compileCache = () => ({ NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE })

/** The source folder: a copy with an unusual path if the setup created one. */
export const sourceFolder = () => process.env.SLUICE_SOURCE ?? process.cwd()

/** Starts the server in its own process, on a port chosen by the system. ROLES selects which of its parts run. */
export async function startSluice(
  env: Record<string, string>,
  source = sourceFolder(),
  { within = [], logFile, ...as }: { uid?: number; gid?: number; within?: string[]; logFile?: string } = {},
): Promise<Sluice> {
  const [command, ...args] = [...within, process.execPath, ...NODE_FLAGS, ...PRELOADED, 'server.ts']
  const log = logFile ? openSync(logFile, 'a') : undefined
  const child = spawn(command!, args, {
    ...as,
    cwd: source,
    env: {
      PATH: process.env.PATH ?? '',
      HOME: process.env.HOME ?? '',
      ...compileCache(),
      NODE_ENV: 'production',
      PORT: '0',
      ...env,
    },
    stdio: ['ignore', log ?? 'pipe', 'pipe'],
  })
  endWithThisProcess(child)
  if (log) closeSync(log)
  let output = ''
  const exited = once(child, 'exit') as Promise<[number | null]>
  const ready = new Promise<string>((resolve, reject) => {
    for (const stream of [logFile ? follow(logFile, child) : child.stdout!, child.stderr!]) {
      stream.on('data', (chunk) => {
        output += chunk
        const baseUrl = output.match(/^ready (\S+)$/m)?.[1]
        if (baseUrl) resolve(baseUrl)
      })
    }
    exited.then(([code]) => reject(new Error(`Sluice exited with ${code}:\n${output}`)))
  })
  const baseUrl = await ready
  return {
    baseUrl,
    pid: child.pid!,
    child,
    output: () => output,
    async stop() {
      child.kill('SIGTERM')
      return (await exited)[0]
    },
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
  }
}

/** What another process appends to a file, until it exits. */
function follow(file: string, { pid }: ChildProcess): Readable {
  const tail = spawn('tail', ['-n', '+1', '-f', `--pid=${pid}`, file], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  endWithThisProcess(tail)
  return tail.stdout
}

/** A data folder that is removed after the test. */
export function temporaryFolder(): { path: string; [Symbol.dispose](): void } {
  const path = mkdtempSync(join(tmpdir(), 'sluice é data-'))
  const goneWithThisProcess = removeWithThisProcess(path)
  return { path, [Symbol.dispose]: goneWithThisProcess }
}

/** Present in the copy, but shared with the original. */
const SHARED = ['node_modules', '.next']
/** `.kit.new` is renamed at the end of a build, possibly during the copy. */
const LEFT_OUT = ['.git', '.data', '.kit.new', 'test-results', ...SHARED]

/**
 * Copies the source into a folder with a space, a percent sign and an accented character in its name, since users have
 * such folders. Tests start all their servers from this copy. The caller must remove `parent`.
 */
export function copySource(): { parent: string; source: string } {
  const parent = mkdtempSync(join(tmpdir(), 'sluice-source-'))
  const source = join(parent, 'my 100%25 sluice é')
  cpSync('.', source, { recursive: true, filter: (path) => !LEFT_OUT.includes(path) })
  for (const name of SHARED) {
    mkdirSync(name, { recursive: true })
    symlinkSync(resolve(name), join(source, name))
  }
  return { parent, source }
}

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
