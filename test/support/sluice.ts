import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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
    for (const stream of [logFile ? follow(logFile) : child.stdout!, child.stderr!]) {
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

/** What is appended to a file, which another process writes. */
function follow(file: string): Readable {
  const tail = spawn('tail', ['-n', '+1', '-f', file], { stdio: ['ignore', 'pipe', 'ignore'] })
  endWithThisProcess(tail)
  return tail.stdout
}

/** A data folder that is removed after the test. */
export function temporaryFolder(): { path: string; [Symbol.dispose](): void } {
  const path = mkdtempSync(join(tmpdir(), 'sluice é data-'))
  const goneWithThisProcess = removeWithThisProcess(path)
  return { path, [Symbol.dispose]: goneWithThisProcess }
}
