import { existsSync } from 'node:fs'
import { buildIfNeeded } from './build.ts'

/** `npm start`: builds if needed, then becomes the server. With `--dev` pages reload as they change. */
if (existsSync('.env')) process.loadEnvFile('.env')
process.chdir(new URL('..', import.meta.url).pathname)
const dev = process.argv.includes('--dev')
Object.assign(process.env, { NODE_ENV: dev ? 'development' : 'production', NEXT_TELEMETRY_DISABLED: '1' })
if (!dev) buildIfNeeded()
await import('../server.ts')
