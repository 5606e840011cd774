import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { buildIfNeeded } from './build.ts'

/** `npm start`: builds if needed, then becomes the server. With `--dev` pages reload as they change. */
if (existsSync('.env')) process.loadEnvFile('.env')
process.chdir(dirname(import.meta.dirname))
const dev = process.argv.includes('--dev')
Object.assign(process.env, { NODE_ENV: dev ? 'development' : 'production', NEXT_TELEMETRY_DISABLED: '1' })
if (!dev) buildIfNeeded()
stopWithNpm()
await import('../server.ts')

/** On SIGTERM npm ends the shell between itself and us, and we would stay behind, with the embedded database. */
function stopWithNpm(): void {
  const shell = process.ppid
  if (!process.env.npm_lifecycle_event) return
  setInterval(() => {
    if (process.ppid !== shell) process.kill(process.pid, 'SIGTERM')
  }, 250).unref()
}
