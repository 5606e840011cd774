import { registerHooks } from 'node:module'
import { sep } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A change to the source of the core or of usage counting. The text must occur exactly once in all of these files. */
export type Edit = { find: string; replace: string }

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const CORE = /^lib\/(uploads|upload-memory|concatenation|repairs|recovery|hooks)\//
const USAGE = 'lib/workspace/usage/'
const RULES_OF_AWS = 'packages/local-bucket/choose-parts.ts'
const EXCHANGE = 'lib/buckets/exchange.ts'
const GET = 'lib/platform/net/get.ts'

/** Where the replaced `exchange` finds the simulated network. */
export const NETWORK = Symbol.for('sluice.simulation.network')
/** Where the replaced `get`, with which imports fetch, finds the simulated source. */
export const SOURCE = Symbol.for('sluice.simulation.source')

/**
 * Changes the core as it is loaded; call it before importing anything from `lib`.
 *
 * - A mebibyte becomes a kibibyte, so that multipart files are small: parts have 5 to 8 KiB.
 * - The bucket client sends to the simulated network instead of a socket, and imports fetch from a simulated source.
 * - A planted fault is written into the source.
 *
 * Returns a function to call when the core is loaded, which fails unless all edits were made.
 */
export function changeCoreOnLoad(planted: readonly Edit[]): () => void {
  const made = new Map(planted.map((edit) => [edit, 0]))
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context)
      const path = pathOf(url)
      if (path === undefined) return loaded
      return { ...loaded, source: rewrite(path, String(loaded.source), made) }
    },
  })
  return () => {
    for (const [{ find }, times] of made)
      if (times !== 1)
        throw new Error(
          `The core must contain this text once, but contains it ${times} times. Adapt the planted fault: ${find}`,
        )
  }
}

function pathOf(url: string): string | undefined {
  if (!url.startsWith('file:')) return undefined
  const path = fileURLToPath(url)
  if (!path.startsWith(ROOT) || !path.endsWith('.ts')) return undefined
  const relative = path.slice(ROOT.length).replaceAll(sep, '/')
  return relative.startsWith('node_modules/') ? undefined : relative
}

function rewrite(path: string, source: string, made: Map<Edit, number>): string {
  if (path === GET)
    return `export const get = (...asked) => globalThis[Symbol.for('${SOURCE.description}')](...asked)`
  if (path === EXCHANGE)
    return `export const exchange = (outgoing) => globalThis[Symbol.for('${NETWORK.description}')](outgoing)`
  let changed = source
  if (CORE.test(path) || path.startsWith(USAGE))
    for (const [edit, times] of made) {
      made.set(edit, times + changed.split(edit.find).length - 1)
      changed = changed.replace(edit.find, () => edit.replace)
    }
  return CORE.test(path) || path === RULES_OF_AWS ? scale(changed) : changed
}

/** Longer patterns come first. */
function scale(source: string): string {
  return source
    .replaceAll('1024 * 1024', '1024')
    .replaceAll('1024 ** 3', '1024 ** 2')
    .replaceAll('2 ** 20', '2 ** 10')
    .replace(/\b(64|90) \* 1024\b/g, '$1')
    .replace(/FIRST_PAGE_BYTES = 4096/g, 'FIRST_PAGE_BYTES = 4')
}
