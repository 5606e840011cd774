import { spawnSync } from 'node:child_process'
import { copyFileSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { StartError } from '../../lib/platform/kernel/errors.ts'
import { CHART } from '../chart.ts'
import { readOptions, runScript } from '../read-options.ts'
import { billOfMaterials, type Entries, entriesInside, entriesOfBuild } from './bill-of-materials.ts'
import { notesFor } from './notes.ts'
import { packServer } from './pack-server.ts'
import { entriesOfServer, readLock } from './stage-server.ts'
import { type Artefact, describe, digestsOf, FOLDER, tarballOf, writeTarball } from './write-tarball.ts'

/**
 * `npm run release`: writes everything in a release to `.release`: the server and kit packages, a bill of materials for
 * each npm package, the Helm chart, their digests, and the notes. The workflow signs and publishes the result. `--dry-run` does not
 * require release notes or committed source, and builds everything a second time to verify that the result is
 * identical.
 */
const KIT = [
  { workspace: 'packages/node', entry: 'packages/node/src/index.ts', platform: 'node' },
  { workspace: 'packages/react', entry: 'packages/react/src/index.ts', platform: 'browser' },
  { workspace: 'packages/uploader', entry: 'packages/uploader/src/index.ts', platform: 'browser' },
  { workspace: 'packages/uppy', entry: 'packages/uppy/src/index.ts', platform: 'browser' },
  { workspace: 'packages/cli', entry: 'packages/cli/src/main.ts', platform: 'node' },
] as const
/** Built with the kit, but not for npm. They have no dependencies, and therefore no bill of materials. */
const OTHERS = ['packages/python', 'packages/go']
const DIGESTS = 'SHA256SUMS'

const { dryRun } = readDryRun()

await runScript(async () => {
  const version = readVersion()
  const notes = notesFor(readFileSync('CHANGELOG.md', 'utf8'), dryRun ? undefined : version)
  if (!dryRun) assertReleasable(version)
  const artefacts = await make()
  if (dryRun) await assertSame(artefacts)
  writeFileSync(join(FOLDER, 'notes.md'), notes)
  writeFileSync(join(FOLDER, DIGESTS), artefacts.map(({ file, sha256 }) => `${sha256}  ${file}\n`).join(''))
  for (const { file, bytes, sha256 } of artefacts) {
    console.log(`${sha256}  ${String(bytes).padStart(9)} bytes  ${file}`)
  }
  console.log(
    `Version ${version}: ${artefacts.length} files are in ${FOLDER}${dryRun ? ', identical in two builds' : ''}.`,
  )
})

function readDryRun(): { dryRun: boolean } {
  const { values } = readOptions('npm run release [-- --dry-run]', {
    options: { 'dry-run': { type: 'boolean', default: false } },
  })
  return { dryRun: values['dry-run'] }
}

async function make(): Promise<Artefact[]> {
  const { staged, artefact: server } = await packServer()
  const { packages } = readLock()
  const { bundled, optional } = entriesOfServer(packages)
  const inServer = { ...bundled, ...optional, ...entriesOfBuild(packages) }
  const all = [server, await writeBill(staged.folder, server, inServer)]
  for (const { workspace, ...bundle } of KIT) {
    const packed = copyOfKit(workspace)
    all.push(packed, await writeBill(workspace, packed, await entriesInside(bundle, packages)))
  }
  const others = OTHERS.flatMap((folder) => globSync(`${folder}/dist/*`).sort())
  all.push(...others.map((built) => copyOf(built, basename(built))))
  all.push(await writeTarball(CHART, join(FOLDER, `chart-sluice-${staged.version}.tgz`), 'sluice'))
  return all
}

type Packed = { name: string; version: string; file: string }

/** Copies the tarball that the server serves. */
function copyOfKit(workspace: string): Artefact {
  const { name } = readJson<{ name: string }>(`${workspace}/package.json`)
  const kit = readJson<Packed[]>('.kit/kit.json')
  const packed = kit.find((one) => one.name === name)
  if (!packed) throw new StartError(`${name} is not in .kit; \`npm run build\` packs it.`)
  return copyOf(join('.kit', packed.file), basename(tarballOf(packed)))
}

function copyOf(built: string, name: string): Artefact {
  copyFileSync(built, join(FOLDER, name))
  return describe(join(FOLDER, name))
}

async function writeBill(folder: string, of: Artefact, entries: Entries): Promise<Artefact> {
  const committedAt = git('log', '-1', '--format=%cI')
  const text = billOfMaterials(readJson(join(folder, 'package.json')), of, { entries, committedAt })
  const path = join(FOLDER, of.file.replace(/\.tgz$/, '.cdx.json'))
  writeFileSync(path, text)
  return describe(path)
}

/** Builds a second time, without anything left behind by the first build, and compares the results. */
async function assertSame(first: Artefact[]): Promise<void> {
  const digests = await Promise.all(first.map(({ file }) => digestsOf(file)))
  for (const built of [
    '.next',
    '.kit',
    ...KIT.map(({ workspace }) => `${workspace}/dist`),
    ...OTHERS.map((folder) => `${folder}/dist`),
  ]) {
    rmSync(built, { recursive: true, force: true })
  }
  const second = await make()
  const differing: string[] = []
  for (const [at, { file, sha256 }] of first.entries()) {
    if (sha256 === second[at]!.sha256) continue
    const other = await digestsOf(file)
    const names = new Set([...digests[at]!.keys(), ...other.keys()])
    const inside = [...names].filter((name) => digests[at]!.get(name) !== other.get(name))
    differing.push([file, ...inside].join('\n  '))
  }
  if (differing.length > 0) throw new StartError(`Two builds of this source differ:\n${differing.join('\n')}`)
}

function readVersion(): string {
  const manifests = ['.', 'packages/server', ...KIT.map(({ workspace }) => workspace)].map((folder) =>
    join(folder, 'package.json'),
  )
  const versions = manifests.map((file) => readJson<{ version: string }>(file).version)
  const odd = manifests.find((_, at) => versions[at] !== versions[0])
  if (odd)
    throw new StartError(
      `${odd} and package.json have different versions. All packages are released together.`,
    )
  return versions[0]!
}

function assertReleasable(version: string): void {
  if (git('status', '--porcelain'))
    throw new StartError('Commit first: a release contains only committed files.')
  const tags = git('tag', '--points-at', 'HEAD').split('\n')
  if (!tags.includes(`v${version}`)) {
    throw new StartError(`This commit has no tag v${version}. A release is built from its tag.`)
  }
}

function readJson<Content>(path: string): Content {
  return JSON.parse(readFileSync(path, 'utf8')) as Content
}

function git(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync('git', args, { encoding: 'utf8' })
  if (status !== 0) throw new StartError(`git ${args.join(' ')}: ${stderr}`)
  return stdout.trim()
}
