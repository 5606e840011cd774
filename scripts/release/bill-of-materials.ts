import { existsSync, globSync, readFileSync } from 'node:fs'
import { build } from 'esbuild'
import type { Artefact } from './write-tarball.ts'

/**
 * A package's contents, as CycloneDX: what npm installs with it, according to its lock file, and what its build has
 * bundled, according to the source's lock file and source maps.
 */
export type Entry = {
  name?: string
  version: string
  integrity?: string
  license?: string
  optional?: boolean
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
}
export type Entries = Record<string, Entry>
type Manifest = { name: string; version: string; description: string; license: string }

export function billOfMaterials(
  manifest: Manifest,
  { sha256 }: Artefact,
  { entries, committedAt }: { entries: Entries; committedAt: string },
): string {
  const ref = purlOf(manifest.name, manifest.version)
  const hashes = [{ alg: 'SHA-256', content: sha256 }]
  const own = { ...componentOf(manifest.name, manifest), description: manifest.description, hashes }
  // Two copies of one version are one component.
  const components = new Map(
    Object.entries(entries).map(([path, entry]) => [
      refOf(path, entry),
      componentOf(nameOf(path, entry), entry),
    ]),
  )
  const bill = {
    $schema: 'http://cyclonedx.org/schema/bom-1.5.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    serialNumber: uuidOf(sha256),
    version: 1,
    metadata: { timestamp: committedAt, component: own },
    components: [...components.values()],
    dependencies: [{ ref, dependsOn: [...components.keys()] }, ...dependenciesOf(entries)],
  }
  return `${JSON.stringify(bill, null, 2)}\n`
}

/** The lock file entries whose code is in the built pages or in `node_modules` beside them. */
export function entriesOfBuild(all: Entries): Entries {
  const beside = globSync('.next/server/node_modules/{*,@*/*}/package.json').map((file) =>
    file.replace('.next/server/', '').replace('/package.json', ''),
  )
  const inside = globSync('.next/server/**/*.map').flatMap((map) =>
    sourcesOf(JSON.parse(readFileSync(map, 'utf8')) as SourceMap).flatMap(packagePathOf),
  )
  const paths = [...new Set([...beside, ...inside])].sort()
  return Object.fromEntries(
    paths.flatMap((path) => (all[path] && existsSync(path) ? [[path, all[path]]] : [])),
  )
}

type SourceMap = { sources?: string[]; sections?: { map: SourceMap }[] }

const sourcesOf = ({ sources = [], sections = [] }: SourceMap): string[] => [
  ...sources,
  ...sections.flatMap(({ map }) => sourcesOf(map)),
]

function packagePathOf(source: string): string[] {
  const match = decodeURIComponent(source).match(/node_modules\/(?:.*node_modules\/)?(?:@[^/]+\/)?[^/]+/)
  return match ? [match[0]] : []
}

function componentOf(name: string, { version, integrity, license, optional }: Omit<Entry, 'name'>) {
  const [alg, digest] = integrity?.split('-') ?? []
  return {
    'bom-ref': purlOf(name, version),
    type: 'library',
    name,
    version,
    scope: optional ? 'optional' : 'required',
    ...(alg === 'sha512' && {
      hashes: [{ alg: 'SHA-512', content: Buffer.from(digest!, 'base64').toString('hex') }],
    }),
    licenses: license === undefined ? [] : [licenseOf(license)],
    purl: purlOf(name, version),
  }
}

/** SPDX identifiers have no spaces; an identifier is also an expression. */
function licenseOf(license: string): object {
  const isExpression = license.split(/ (?:OR|AND|WITH) /).every((part) => !part.includes(' '))
  return isExpression ? { expression: license } : { license: { name: license } }
}

function dependenciesOf(entries: Entries): { ref: string; dependsOn: string[] }[] {
  const refs = new Map<string, Set<string>>()
  for (const [path, entry] of Object.entries(entries)) {
    const ref = refOf(path, entry)
    const dependsOn = refs.get(ref) ?? new Set()
    refs.set(ref, dependsOn)
    for (const name of Object.keys({ ...entry.dependencies, ...entry.optionalDependencies })) {
      const found = resolveFrom(path, name, entries)
      if (found) dependsOn.add(refOf(found, entries[found]!))
    }
  }
  return [...refs].map(([ref, dependsOn]) => ({ ref, dependsOn: [...dependsOn] }))
}

/** Resolves a dependency like Node: in the folder itself, then in its parents. */
function resolveFrom(path: string, name: string, entries: Entries): string | undefined {
  const folders = path.split(/\/?node_modules\//).slice(1)
  for (let depth = folders.length; depth >= 0; depth--) {
    const candidate = [...folders.slice(0, depth), name].map((one) => `node_modules/${one}`).join('/')
    if (entries[candidate]) return candidate
  }
  return undefined
}

type Bundle = { entry: string; platform: 'browser' | 'node' }

/** Builds this entry point like the kit package, and returns the packages that esbuild bundles into it. */
export async function entriesInside({ entry, platform }: Bundle, all: Entries): Promise<Entries> {
  const { metafile } = await build({
    entryPoints: [entry],
    bundle: true,
    platform,
    format: 'esm',
    jsx: 'automatic',
    external: ['react', 'react/jsx-runtime'],
    outdir: 'unused',
    write: false,
    metafile: true,
  })
  const paths = [...new Set(Object.keys(metafile.inputs).flatMap(packagePathOf))].sort()
  return Object.fromEntries(paths.map((path) => [path, all[path]!]))
}

function nameOf(path: string, { name }: Entry): string {
  return name ?? path.split('node_modules/').at(-1)!
}

const refOf = (path: string, entry: Entry): string => purlOf(nameOf(path, entry), entry.version)

function purlOf(name: string, version: string): string {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`
}

/** A serial number derived from the package's digest. */
function uuidOf(sha256: string): string {
  const part = (from: number, to: number) => sha256.slice(from, to)
  return `urn:uuid:${part(0, 8)}-${part(8, 12)}-5${part(13, 16)}-8${part(17, 20)}-${part(20, 32)}`
}
