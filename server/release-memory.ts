import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * Releases the memory that loading the program left behind: 100 MiB, mostly copies of package.json files, one for each
 * loaded file. V8 would keep that memory until it runs short. Call this before clients wait for responses, because it
 * blocks the process.
 */
export function releaseMemory(): void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as (options: object) => void
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}
