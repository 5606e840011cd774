import { existsSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { dirname, join, resolve } from 'node:path'

/** `sluice-server`: the installed package's server. By default, it stores its data in `.data` in the folder it is started in. */
const ROOT = dirname(dirname(import.meta.dirname))
const PATHS = ['DATA_DIR', 'TLS_CERT_FILE', 'TLS_KEY_FILE']

if (process.argv.length > 2) {
  process.stderr.write(
    `The server accepts no options, but got ${process.argv[2]}. Its settings are environment variables.\n`,
  )
  process.exit(1)
}
if (existsSync('.env')) process.loadEnvFile('.env')
process.env.DATA_DIR ||= '.data'
for (const name of PATHS) if (process.env[name]) process.env[name] = resolve(process.env[name])
Object.assign(process.env, { NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1' })
// The pages look for their files relative to the working directory.
process.chdir(ROOT)
const cache = join(ROOT, 'node_modules/.cache/sluice')
enableCompileCache(cache)
// Inherited by the processes that a supervisor starts.
process.env.NODE_COMPILE_CACHE = cache
await import('../../server.ts')
