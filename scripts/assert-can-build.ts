import { existsSync } from 'node:fs'
import { StartError } from '../lib/platform/kernel/errors.ts'

/** A production install (`npm ci --omit=dev`) can run a build but not create one. */
export function assertCanBuild(): void {
  if (existsSync('node_modules/next')) return
  throw new StartError(
    'The pages of this source have not been built yet, and building them needs the packages that --omit=dev leaves out. Run `npm ci` and `npm run build`; after that, `npm ci --omit=dev` is enough to start.',
  )
}
