import { existsSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { dirname, join } from 'node:path'
import { buildIfNeeded } from './build.ts'
import { buildKitIfNeeded } from './kit.ts'
import { readOptions, runScript } from './read-options.ts'

/** `npm start`: builds if needed, then becomes the server. With `--dev`, pages reload as they change. */
if (existsSync('.env')) process.loadEnvFile('.env')
process.chdir(dirname(import.meta.dirname))
const { dev } = readOptions('npm start, or npm run dev', {
  options: { dev: { type: 'boolean', default: false } },
}).values
Object.assign(process.env, { NODE_ENV: dev ? 'development' : 'production', NEXT_TELEMETRY_DISABLED: '1' })
// Threads that inherit this variable would report each module they load, but the paths to watch are given explicitly.
delete process.env.WATCH_REPORT_DEPENDENCIES
await runScript(async () => {
  if (dev) buildKitIfNeeded()
  else await buildIfNeeded()
  stopWithNpm()
  // This folder must not be writable by others, since its contents are executed.
  const cache = join(dirname(import.meta.dirname), 'node_modules/.cache/sluice')
  enableCompileCache(cache)
  // The processes that a supervisor starts use the same cache.
  process.env.NODE_COMPILE_CACHE = cache
  await import('../server.ts')
})

/**
 * On SIGTERM, npm only ends the shell in which it runs this process. Without this function, the server and the embedded
 * database would keep running.
 */
function stopWithNpm(): void {
  const shell = process.ppid
  if (!process.env.npm_lifecycle_event) return
  setInterval(() => {
    if (process.ppid !== shell) process.kill(process.pid, 'SIGTERM')
  }, 250).unref()
}
