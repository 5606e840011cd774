/** @module-tag long */
import { execFileSync, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

/**
 * Shows that each step of `npm run check` fails on a planted error. Steps that read every source run in a copy that
 * only has the configuration, what the scripts import, and what is planted, since reading everything takes most of their time.
 */
const BARE = /^[^/]+$|^(scripts|packages|lib\/platform|lib\/dashboard\/embed|drizzle\/migrations)\//
/** The built packages, so that a step does not build them again. */
const BUILT = [
  '.kit',
  'packages/node/src/generated',
  ...['node', 'react', 'cli'].map((name) => `packages/${name}/dist`),
]
let bare: string
let whole: string

beforeAll(() => {
  const list = ['ls-files', '--cached', '--others', '--exclude-standard']
  const files = execFileSync('git', list, { encoding: 'utf8' }).split('\n').filter(Boolean)
  const copy = (kept: string[]) => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-check-'))
    for (const file of [...kept, ...BUILT]) cpSync(file, join(folder, file), { recursive: true })
    symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
    execFileSync('git', ['init', '--quiet'], { cwd: folder })
    return folder
  }
  bare = copy(files.filter((file) => BARE.test(file)))
  whole = copy(files)
})
afterAll(() => {
  for (const folder of [bare, whole]) rmSync(folder, { recursive: true, force: true })
})

type Checked = { status: number | null; output: string }

function check(step: string, planted: Record<string, string>, folder = bare): Checked {
  const paths = Object.keys(planted).map((file) => join(folder, file))
  const originals = paths.map((path) => (existsSync(path) ? readFileSync(path) : undefined))
  for (const [file, text] of Object.entries(planted)) {
    mkdirSync(join(folder, dirname(file)), { recursive: true })
    writeFileSync(join(folder, file), text)
  }
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/check.ts', '--only', step], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, PATH: `${resolve('node_modules/.bin')}:${process.env.PATH}` },
  })
  for (const [at, path] of paths.entries()) {
    if (originals[at]) writeFileSync(path, originals[at])
    else rmSync(path)
  }
  return { status, output: stdout + stderr }
}

const imports = (path: string) => `import * as planted from '${path}'\nexport const seen = planted\n`
const importsType = (path: string) =>
  `import type * as planted from '${path}'\nexport type Seen = typeof planted\n`

describe('npm run check', () => {
  // All of these errors are checked in a single run, since each run reads the entire source.
  describe('finds an import in a forbidden direction:', () => {
    const targets = Object.fromEntries(
      [
        ...'platform/net webhooks uploads uploads/ledger uploads/stream uploads/finish recovery buckets workspace'
          .split(' ')
          .map((room) => `lib/${room}/target.ts`),
        'lib/platform/runtime.ts',
        'lib/platform/db/database.ts',
        'lib/protocols/plain/plain-protocol.ts',
        'lib/uploads/append.ts',
        'lib/uploads/upload-context.ts',
        'server/open-uploads.ts',
        'app/session.ts',
        'test/support/postgres.ts',
      ].map((file) => [file, 'export const planted = 1\n']),
    )
    const broken: [rule: string, file: string, path: string, source?: typeof importsType][] = [
      ['lib-knows-no-pages', 'lib/api/planted-page.ts', 'next/server'],
      ['kernel-is-the-ground', 'lib/platform/kernel/planted.ts', '../runtime.ts'],
      ['one-door-to-s3', 'lib/workspace/planted-s3.ts', '@aws-sdk/client-s3'],
      ['one-door-to-opentelemetry', 'lib/webhooks/planted-trace.ts', '@opentelemetry/sdk-trace'],
      ['one-door-outside', 'lib/workspace/planted-door.ts', 'node:https'],
      ['pages-reach-the-database-by-lib', 'app/planted.ts', '#lib/platform/db/database.ts'],
      ['components-know-no-pages', 'components/ui/planted-page.ts', '#app/session.ts'],
      ['tus-alone-knows-tus', 'lib/api/planted-tus.ts', '@tus/server'],
      ['protocols-stand-apart', 'lib/protocols/tus/planted-apart.ts', '../plain/plain-protocol.ts'],
      ['no-cycles', 'lib/api/planted-cycle.ts', './planted-cycle.ts'],
      ['not-found', 'lib/api/planted-nowhere.ts', './nowhere.ts'],
      ['server-needs-no-development', 'server/planted-next.ts', 'next'],
      ['tests-stay-tests', 'lib/api/planted-test.ts', '../../test/support/postgres.ts'],
      ['every-folder-has-a-layer', 'lib/new-folder/planted.ts', 'zod'],
      ['layers', 'lib/platform/net/planted.ts', '../../webhooks/target.ts'],
      ['layers', 'lib/identity/planted.ts', '../workspace/target.ts'],
      ['layers', 'lib/webhooks/planted.ts', '../uploads/target.ts'],
      ['layers', 'lib/workspace/planted.ts', '#server/open-uploads.ts'],
      ['upload-layers', 'lib/uploads/ledger/planted.ts', '../stream/target.ts'],
      ['layers', 'lib/uploads/finish/planted.ts', '../../recovery/target.ts'],
      ['upload-layers', 'lib/uploads/stream/planted.ts', '../finish/target.ts'],
      ['upload-layers', 'lib/uploads/rules/planted.ts', '../append.ts'],
      ['upload-layers', 'lib/uploads/lease/planted-context.ts', '../upload-context.ts'],
      ['every-upload-entry-has-a-layer', 'lib/uploads/new-folder/planted.ts', 'zod'],
      ['every-upload-entry-has-a-layer', 'lib/uploads/planted.ts', '../buckets/target.ts'],
      ['sql-of-uploads-in-their-ledger', 'lib/uploads/planted-sql.ts', 'drizzle-orm'],
      ['uploads-know-a-port', 'lib/uploads/planted.ts', '../buckets/target.ts'],
      ['protocols-know-no-ledger', 'lib/protocols/tus/planted.ts', '../../uploads/ledger/target.ts'],
      [
        'protocols-know-no-ledger',
        'lib/protocols/tus/planted-type.ts',
        '../../uploads/ledger/target.ts',
        importsType,
      ],
      ['local-bucket-stands-alone', 'packages/local-bucket/planted.ts', '#lib/buckets/target.ts'],
      ['kit-stands-alone', 'packages/node/planted.ts', '../../lib/buckets/target.ts'],
    ]
    let found: Checked
    beforeAll(() => {
      const planted = broken.map(([, file, path, source = imports]) => [file, source(path)])
      found = check('directions', { ...targets, ...Object.fromEntries(planted) })
      expect(found.status).toBe(1)
    })
    it.each(broken)('%s: %s', (rule, file) => {
      expect(found.output).toContain(`error ${rule}: ${file}`)
    })
  })

  it('finds more than twelve folders and files directly in uploads', () => {
    const rules = readFileSync('.dependency-cruiser.mjs', 'utf8')
    const crowded = rules.replace("['bucket-port.ts']", "['bucket-port.ts', 'one.ts', 'two.ts', 'three.ts']")
    const { status, output } = check('directions', { '.dependency-cruiser.mjs': crowded })
    expect(output).toContain('lib/uploads may have at most 12 top-level folders and files.')
    expect(status).toBe(1)
  })

  it('finds process.env outside config.ts, a file path taken from a URL, a spread literal, a function of more than fifty lines and a file of more than three hundred', () => {
    const long = `export function planted(count: number): number {\n  let sum = 0\n${'  sum += count\n'.repeat(60)}  return sum\n}\n`
    const { status, output } = check('format and lint', {
      'lib/api/planted.ts': 'export const home = process.env.HOME\n',
      'scripts/planted.ts': "export const docs = new URL('../docs', import.meta.url).pathname\n",
      'scripts/spread.ts': 'export const all = { one: 1, ...{ two: 2 } }\n',
      'lib/api/planted-function.ts': long,
      'lib/api/long.ts': Array.from({ length: 301 }, (_, n) => `export const planted${n} = ${n}\n`).join(''),
    })
    expect(output).toContain('noProcessEnv')
    expect(output).toMatch(/lib\/api\/planted-function\.ts.*noExcessiveLinesPerFunction/)
    expect(output).toMatch(/lib\/api\/long\.ts.*noExcessiveLinesPerFile/)
    expect(output).toMatch(/scripts\/planted\.ts(.|\n)*The pathname of a URL is percent-encoded/)
    expect(output).toMatch(/scripts\/spread\.ts(.|\n)*spreading a literal only saves lines/)
    expect(status).toBe(1)
  })

  it('finds an unused export', () => {
    const { status, output } = check('dead code', {
      'server.ts': "import { used } from './lib/api/planted.ts'\nused()\n",
      'lib/api/planted.ts': 'export const used = () => {}\nexport const idle = 1\n',
    })
    expect(output).toMatch(/^idle +lib\/api\/planted\.ts/m)
    expect(output).not.toMatch(/^used /m)
    expect(status).toBe(1)
  })

  it('finds an edit to a committed migration', () => {
    const name = readdirSync('drizzle/migrations').find((name) => name.endsWith('.sql'))!
    const commit = [
      '-c',
      'user.name=Test',
      '-c',
      'user.email=test@example.com',
      'commit',
      '--quiet',
      '--message=Land',
    ]
    for (const args of [['add', 'drizzle'], commit]) execFileSync('git', args, { cwd: bare })
    const { status, output } = check('migrations', { [`drizzle/migrations/${name}`]: 'select 1' })
    expect(output).toContain(`${name} differs from the commit that added it`)
    expect(status).toBe(1)
  })

  it('finds an API change that is not additive, and an outdated description', () => {
    const FILE = 'packages/node/openapi.json'
    const landed = readFileSync(FILE, 'utf8')
    const gone = check('api', { [FILE]: landed.replace('"/usage"', '"/consumption"') }, whole)
    expect(gone.output).toContain('v1 of the API only accepts additive changes: GET /consumption is gone')
    const behind = check('api', { [FILE]: landed.replace(/"summary": "[^"]+"/, '"summary": ""') }, whole)
    expect(behind.output).toContain(`${FILE} is out of date`)
    expect([gone.status, behind.status]).toEqual([1, 1])
  })

  it('finds a dead link and a dead anchor in the docs', () => {
    const { status, output } = check(
      'docs',
      {
        'docs/planted.md': '[a](nowhere.md) [b](planted.md#no-such-heading)\n',
      },
      whole,
    )
    expect(output).toContain('docs/planted.md: nowhere.md')
    expect(output).toContain('docs/planted.md: planted.md#no-such-heading')
    expect(status).toBe(1)
  })

  it('finds a clause of the conformance table without a test, and a test without a clause', () => {
    const row = (proof: string) => `| A clause | MUST | ${proof} |\n`
    const { status, output } = check(
      'conformance',
      {
        'docs/conformance.md': row('[core](../e2e/conformance/core.test.ts): no such test') + row(''),
      },
      whole,
    )
    expect(output).toContain('line 1: e2e/conformance/core.test.ts has no test "no such test"')
    expect(output).toContain('line 2: name tests as')
    expect(output).toContain('no clause names the test "ignores Tus-Resumable"')
    expect(status).toBe(1)
  })
})
