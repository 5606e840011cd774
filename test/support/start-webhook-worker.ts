import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** The key with which `webhook-rows.ts` seals its secrets. */
const ENCRYPTION_KEY = Buffer.alloc(32, 7).toString('base64')

export async function startWebhookWorkerProcess(
  databaseUrl: string,
  env: Record<string, string> = {},
  program = join(import.meta.dirname, 'webhook-worker.ts'),
) {
  const child = spawn(process.execPath, [program], {
    env: {
      PATH: process.env.PATH ?? '',
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      NODE_ENV: 'production',
      DATABASE_URL: databaseUrl,
      DATA_DIR: join(tmpdir(), 'sluice-worker'),
      AUTH_SECRET: 'a secret of thirty-two characters',
      ENCRYPTION_KEY,
      ALLOWED_PRIVATE_HOSTS: '*',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
  const lines: string[] = []
  const looks = new Set<() => void>()
  createInterface(child.stdout).on('line', (line) => {
    lines.push(line)
    for (const look of looks) look()
  })
  /** Resolves when the worker has printed this line `times` times; rejects if it exits first. */
  const printed = (line: string, times = 1) =>
    new Promise<void>((resolve, reject) => {
      const look = () => {
        if (lines.filter((one) => one === line).length < times) return
        looks.delete(look)
        resolve()
      }
      looks.add(look)
      exited.then(([code, signal]) =>
        reject(new Error(`the worker exited (${code ?? signal}) before "${line}"`)),
      )
      look()
    })
  return {
    pid: child.pid!,
    lines,
    printed,
    exited,
    kill: () => child.kill('SIGKILL'),
    async stop(): Promise<number> {
      child.kill('SIGTERM')
      await exited
      return Number(lines.find((line) => line.startsWith('cpu '))?.slice(4))
    },
  }
}
