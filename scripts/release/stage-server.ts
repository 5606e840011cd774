import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  globSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { build } from 'esbuild'
import ts from 'typescript'
import type { Entries } from './bill-of-materials.ts'

/**
 * Assembles the package that runs without a build: every module imported by the server and its commands, as JavaScript
 * (Node does not strip types below node_modules), the built pages with the part of Next that runs them, and the files
 * that are read at runtime.
 */
const TEMPLATE = 'packages/server'
export const COMMANDS = ['account', 'backup', 'reconcile', 'restore', 'rotate-keys', 'upgrade-check']
const ENTRIES = ['server.ts', `${TEMPLATE}/start.ts`, ...COMMANDS.map((name) => `scripts/${name}.ts`)]
export const READ_WHILE_RUNNING = [
  '.kit',
  'app/(site)/docs/_text',
  'docs/capacity.md',
  'docs/operations.md',
  'docs/providers.md',
  'deploy/haproxy.cfg',
  'deploy/nginx.conf',
  'drizzle/migrations',
  'lib/webhooks/signature/snippets',
  'public',
  'LICENSE',
]
/** Build files that the server does not read, or that it writes at runtime. */
const NOT_READ =
  /^\.next\/(cache|server\/route-cache|diagnostics|types|dev|trace|trace-build|turbopack|.*\.map|.*\.nft\.json)$/
/**
 * Package files that only people and tools use, and native code that ssh2 may have compiled on this machine but does
 * not need.
 */
const NOT_RUN =
  /\.(map|d\.[cm]?ts|md|markdown|flow)$|\/(tests?|docs?|examples?|benchmarks?)$|\/ssh2\/lib\/protocol\/crypto\/build$/
const IMPORTS = ['lib', 'packages', 'server', 'drizzle']

export type Staged = { folder: string; name: string; version: string }

export async function stageServer(folder: string): Promise<Staged> {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const modules = await modulesOf(ENTRIES)
  for (const path of modules) {
    if (path.endsWith('.ts')) write(join(folder, path.replace(/\.ts$/, '.js')), compile(path))
    else cpSync(path, join(folder, path))
  }
  for (const path of READ_WHILE_RUNNING) cpSync(path, join(folder, path), { recursive: true })
  cpSync(`${TEMPLATE}/README.md`, join(folder, 'README.md'))
  cpSync(`${TEMPLATE}/launch.cjs`, join(folder, 'launch.cjs'))
  copyPages(folder)
  copyPackages(folder)
  const staged = writeManifest(folder)
  assertImportable(
    folder,
    modules.filter((path) => path.endsWith('.ts') && !ENTRIES.includes(path)),
  )
  return staged
}

/** Some modules are only imported when they are needed, so starting the server would not show that one is broken. */
function assertImportable(folder: string, modules: string[]): void {
  const imports = modules.map((path) => `await import('./${path.replace(/\.ts$/, '.js')}')`)
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module'], {
    cwd: folder,
    input: [...imports, 'process.exit()'].join('\n'),
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`A module of the packed server cannot be imported.\n${stderr}`)
}

/** The modules that these import, recursively. */
async function modulesOf(entries: string[]): Promise<string[]> {
  const { metafile } = await build({
    entryPoints: entries,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    outdir: 'unused',
    write: false,
    metafile: true,
    external: ['next'],
  })
  return Object.keys(metafile.inputs).sort()
}

function compile(path: string): string {
  const { outputText } = ts.transpileModule(readFileSync(path, 'utf8'), {
    fileName: path,
    compilerOptions: {
      target: ts.ScriptTarget.ES2024,
      module: ts.ModuleKind.ESNext,
      verbatimModuleSyntax: true,
      removeComments: true,
      allowImportingTsExtensions: true,
      rewriteRelativeImportExtensions: true,
    },
  })
  return outputText
}

function copyPages(folder: string): void {
  cpSync('.next', join(folder, '.next'), { recursive: true, filter: (path) => !NOT_READ.test(path) })
  // Replaces links to packages with modules, since a package cannot contain links.
  for (const link of globSync('.next/node_modules/*')) {
    if (!lstatSync(link).isSymbolicLink()) continue
    const { name } = JSON.parse(readFileSync(join(realpathSync(link), 'package.json'), 'utf8')) as {
      name: string
    }
    rmSync(join(folder, link))
    write(join(folder, link, 'index.js'), `module.exports = require('${name}')\n`)
  }
}

/**
 * Includes the packages that the server was tested with, since npm does not read the lock file of a package installed
 * from a file. They run on the Node that is installed with them, so their own requirements are removed: npm would warn
 * about an older Node that is never used.
 */
function copyPackages(folder: string): void {
  const { bundled } = entriesOfServer(readLock().packages)
  for (const path of Object.keys(bundled)) {
    const filter = (file: string) => !NOT_RUN.test(file) && !file.slice(path.length).includes('/node_modules')
    cpSync(path, join(folder, path), { recursive: true, filter })
    const { engines: _, ...manifest } = readJson(join(path, 'package.json')) as { engines?: object }
    if (path === DRIZZLE) Object.assign(manifest, withFewExports(manifest))
    write(join(folder, path, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  }
}

const DRIZZLE = 'node_modules/drizzle-orm'

/**
 * Keeps only the exports of folders: Node parses all exports again for each module (see resolve-drizzle.cjs), and nine
 * tenths of them are for single modules.
 */
export function withFewExports({ exports = {} }: { exports?: object }): { exports: object } {
  const areFolders = Object.entries(exports).filter(([path]) => path.split('/').length <= 2)
  return { exports: Object.fromEntries(areFolders) }
}

function writeManifest(folder: string): Staged {
  const root = readJson('package.json') as Manifest
  const own = readJson(`${TEMPLATE}/package.json`) as Manifest
  const { private: _, ...shown } = own
  const manifest = {
    ...shown,
    imports: Object.fromEntries(IMPORTS.map((name) => [`#${name}/*.ts`, `./${name}/*.js`])),
    dependencies: root.dependencies,
    bundleDependencies: Object.keys(root.dependencies),
    optionalDependencies: root.optionalDependencies,
  }
  write(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  return { folder, name: own.name, version: own.version }
}

type Manifest = {
  name: string
  version: string
  private?: boolean
  dependencies: Record<string, string>
  optionalDependencies: Record<string, string>
}

export function readLock(): { packages: Entries } {
  return readJson('package-lock.json') as { packages: Entries }
}

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(path, 'utf8'))
}

function write(path: string, text: string): void {
  if (!existsSync(dirname(path))) mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

type Entry = { dev?: boolean; devOptional?: boolean; optional?: boolean; link?: boolean }

/**
 * Selects the packages that the server needs from the source's lock file: platform-independent ones, which its own
 * package includes, and those that npm selects by platform or may leave out.
 */
export function entriesOfServer<Given extends Entry>(packages: Record<string, Given>) {
  const installed = Object.entries(packages).filter(
    ([path, { dev, devOptional, link }]) => path.startsWith('node_modules/') && !dev && !devOptional && !link,
  )
  const [optional, bundled] = [true, false].map((wanted) =>
    Object.fromEntries(installed.filter(([, entry]) => Boolean(entry.optional) === wanted)),
  ) as [Record<string, Given>, Record<string, Given>]
  return { bundled, optional }
}
