import { readFileSync } from 'node:fs'

/**
 * Everything that `npm ci` installs is pinned by its digest in the lock file. Bundled packages are pinned by the digest
 * of the package that contains them.
 */
type Entry = { integrity?: string; inBundle?: boolean; link?: boolean }
type Lock = { packages: Record<string, Entry> }

export function digestFaults({ packages }: Lock): string[] {
  return Object.entries(packages).flatMap(([path, { integrity, inBundle, link }]) => {
    // The entries for the root and the workspaces refer to this source itself.
    if (!path.includes('node_modules/') || inBundle || link) return []
    if (/^sha512-[\w+/]{86}==$/.test(integrity ?? '')) return []
    return [`${path} has no SHA-512 digest in package-lock.json.`]
  })
}

if (import.meta.main) {
  const faults = digestFaults(JSON.parse(readFileSync('package-lock.json', 'utf8')))
  for (const fault of faults) console.log(fault)
  process.exit(faults.length === 0 ? 0 : 1)
}
