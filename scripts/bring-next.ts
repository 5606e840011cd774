import { existsSync, renameSync, rmSync } from 'node:fs'
import { StartError } from '../lib/platform/kernel/errors.ts'

/**
 * Copies the code that runs the built pages next to them. Of the 300 MB of Next and its compiler, this is the 20 MB
 * that Next's server reads, which Next itself collects for `output: 'standalone'`. This way, `npm ci --omit=dev`
 * installs neither Next nor its compiler (decision 34).
 */
const STANDALONE = '.next/standalone'
const PLACE = '.next/server/node_modules'
/** Packages for image scaling, which no page uses: see next.config.ts. */
const OF_PICTURES = ['@img', 'sharp']

export function bringNext(): void {
  if (existsSync(`${STANDALONE}/server.ts`)) {
    rmSync(STANDALONE, { recursive: true })
    throw new StartError(
      "A route's file trace includes the entire project folder, including local data. Exclude the folder with `outputFileTracingExcludes` in next.config.ts.",
    )
  }
  rmSync(PLACE, { recursive: true, force: true })
  renameSync(`${STANDALONE}/node_modules`, PLACE)
  rmSync(STANDALONE, { recursive: true })
  for (const name of OF_PICTURES) rmSync(`${PLACE}/${name}`, { recursive: true, force: true })
}
