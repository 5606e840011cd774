import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { KIT_MODULES, UPPY_BUNDLES } from '../lib/dashboard/embed/kit.ts'
import { StartError } from '../lib/platform/kernel/errors.ts'
import { assertCanBuild } from './assert-can-build.ts'
import { readOptions, runScript } from './read-options.ts'
import { hashOfSources } from './source-hash.ts'

/** The packages for users, each with its sources; an earlier package may be part of a later one. */
const PACKAGES = [
  {
    folder: 'packages/node',
    sources: ['openapi.json', 'openapi-ts.config.ts'],
    commands: [
      ['node_modules/@hey-api/openapi-ts/bin/run.js'],
      ['node_modules/typescript/bin/tsc', '-p', '.'],
    ],
  },
  {
    folder: 'packages/react',
    sources: ['build.mjs', '../bundle.mjs'],
    commands: [['packages/react/build.mjs'], ['node_modules/typescript/bin/tsc', '-p', '.']],
  },
  {
    folder: 'packages/uploader',
    sources: ['build.mjs', '../bundle.mjs', '../react/src'],
    commands: [['packages/uploader/build.mjs'], ['node_modules/typescript/bin/tsc', '-p', '.']],
  },
  {
    folder: 'packages/uppy',
    sources: ['build.mjs', '../bundle.mjs', '../react/src'],
    commands: [['packages/uppy/build.mjs'], ['node_modules/typescript/bin/tsc', '-p', '.']],
  },
  {
    folder: 'packages/cli',
    sources: ['build.mjs', '../node/openapi.json', '../node/src'],
    commands: [['packages/cli/build.mjs']],
  },
]
const COMMON = ['package-lock.json', 'tsconfig.json', 'scripts/kit.ts', 'lib/dashboard/embed/kit.ts']
const OWN = ['package.json', 'tsconfig.json', 'README.md', 'LICENSE', 'src']

/**
 * The files that the server serves: a tarball for each package, with part of its digest in its name, modules for pages
 * without a build, and Uppy's bundles.
 */
const PACKED = '.kit'

/** Builds and packs each package unless this exact source is already built. */
export function buildKitIfNeeded(): void {
  const built = PACKAGES.filter(buildIfNeeded)
  if (built.length > 0 || !existsSync(join(PACKED, 'kit.json'))) pack()
}

function buildIfNeeded({ folder, sources, commands }: (typeof PACKAGES)[number]): boolean {
  const own = [...OWN, ...sources].map((path) => join(folder, path))
  const source = hashOfSources([...COMMON, ...own], (path) => !path.includes('/generated'))
  const mark = join(folder, 'dist/.source')
  if (existsSync(mark) && readFileSync(mark, 'utf8') === source) return false
  assertCanBuild()
  rmSync(join(folder, 'dist'), { recursive: true, force: true })
  for (const [script, ...args] of commands) run(folder, process.execPath, [resolve(script!), ...args])
  writeFileSync(mark, source)
  return true
}

type Packed = { name: string; version: string; filename: string; integrity: string; size: number }

function pack(): void {
  const making = `${PACKED}.new`
  rmSync(making, { recursive: true, force: true })
  mkdirSync(making)
  const list = PACKAGES.map(({ folder }) => {
    const told = run(folder, 'npm', ['pack', '--json', '--pack-destination', resolve(making)])
    const [{ name, version, filename, integrity, size }] = JSON.parse(told) as [Packed]
    const digest = Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex').slice(0, 12)
    const file = filename.replace(/\.tgz$/, `-${digest}.tgz`)
    renameSync(join(making, filename), join(making, file))
    return { name, version, file, integrity, bytes: size }
  })
  writeFileSync(join(making, 'kit.json'), JSON.stringify(list))
  for (const [file, built] of Object.entries(KIT_MODULES)) copyFileSync(built, join(making, file))
  for (const [version, { package: name, integrity }] of Object.entries(UPPY_BUNDLES)) {
    mkdirSync(join(making, 'uppy', version), { recursive: true })
    for (const file of Object.keys(integrity))
      copyFileSync(join('node_modules', name, 'dist', file), join(making, 'uppy', version, file))
  }
  rmSync(PACKED, { recursive: true, force: true })
  renameSync(making, PACKED)
}

function run(folder: string, program: string, args: string[]): string {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: folder, encoding: 'utf8' })
  if (status === 0) return stdout
  process.stderr.write(stdout + stderr)
  throw new StartError(`${folder} could not be built; the output is above.`)
}

if (import.meta.main) {
  readOptions('npm run generate -- kit', {})
  await runScript(async () => buildKitIfNeeded())
}
