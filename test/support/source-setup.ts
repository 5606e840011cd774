import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { copySource } from './sluice.ts'

/** Every server in the run is started from this copy: `startSluice` reads SLUICE_SOURCE. */
export default function setup(): () => void {
  if (process.env.SLUICE_SOURCE) return () => {}
  const { parent, source } = copySource()
  process.env.SLUICE_SOURCE = source
  // Dozens of processes load the same modules at startup.
  process.env.NODE_COMPILE_CACHE = join(parent, 'compile-cache')
  return () => rmSync(parent, { recursive: true })
}
