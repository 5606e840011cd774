import { existsSync } from 'node:fs'
import { StartError } from '../lib/platform/kernel/errors.ts'

/** What `npm ci --omit=dev` installs runs a build and makes none. */
export function assertCanBuild(): void {
  if (existsSync('node_modules/next')) return
  throw new StartError(
    'The pages of this source have not been built yet, which needs the packages that --omit=dev leaves out. Run `npm ci` and `npm run build`; after that, `npm ci --omit=dev` is enough to start.',
  )
}
