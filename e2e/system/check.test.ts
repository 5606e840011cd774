import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

/** Each check of `npm run check` is shown to fail on a planted fault, in a copy of the source. */
let copy: string

beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'sluice-check-'))
  const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    encoding: 'utf8',
  })
  for (const file of files.split('\n').filter(Boolean)) cpSync(file, join(copy, file))
  symlinkSync(resolve('node_modules'), join(copy, 'node_modules'))
  execFileSync('git', ['init', '--quiet'], { cwd: copy })
})
afterAll(() => rmSync(copy, { recursive: true, force: true }))

function check(step: string, planted: Record<string, string>): { status: number | null; output: string } {
  for (const [file, text] of Object.entries(planted)) {
    mkdirSync(join(copy, dirname(file)), { recursive: true })
    writeFileSync(join(copy, file), text)
  }
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/check.ts', '--only', step], {
    cwd: copy,
    encoding: 'utf8',
    env: { ...process.env, PATH: `${resolve('node_modules/.bin')}:${process.env.PATH}` },
  })
  for (const file of Object.keys(planted)) {
    rmSync(join(copy, file))
    if (existsSync(file)) cpSync(file, join(copy, file))
  }
  return { status, output: stdout + stderr }
}

const imports = (path: string) => `import * as planted from '${path}'\nexport const seen = planted\n`

describe('npm run check', () => {
  // All in one run: it looks through the whole source each time.
  describe('finds a broken direction:', () => {
    const targets = Object.fromEntries(
      ['net', 'webhooks', 'uploads', 'buckets'].map((room) => [
        `lib/${room}/target.ts`,
        'export const planted = 1\n',
      ]),
    )
    const broken = [
      ['lib-knows-no-pages', 'lib/planted-page.ts', 'next/server'],
      ['kernel-is-the-ground', 'lib/kernel/planted.ts', '../runtime.ts'],
      ['one-door-to-s3', 'lib/planted-s3.ts', '@aws-sdk/client-s3'],
      ['one-door-outside', 'lib/planted-door.ts', 'node:https'],
      ['pages-reach-the-database-by-lib', 'app/planted.ts', '#lib/db/database.ts'],
      ['tus-alone-knows-tus', 'lib/planted-tus.ts', '@tus/server'],
      ['no-cycles', 'lib/planted-cycle.ts', './planted-cycle.ts'],
      ['not-found', 'lib/planted-nowhere.ts', './nowhere.ts'],
      ['tests-stay-tests', 'lib/planted-test.ts', '../e2e/parts/postgres.ts'],
      ['ground-floor', 'lib/net/planted.ts', '../webhooks/target.ts'],
      ['uploads-know-a-port', 'lib/uploads/planted.ts', '../buckets/target.ts'],
      ['webhooks-know-no-uploads', 'lib/webhooks/planted.ts', '../uploads/target.ts'],
    ] as const
    let found: ReturnType<typeof check>
    beforeAll(() => {
      const planted = broken.map(([, file, path]) => [file, imports(path)])
      found = check('directions', { ...targets, ...Object.fromEntries(planted) })
      expect(found.status).toBe(1)
    })
    it.each(broken)('%s', (rule, file) => {
      expect(found.output).toContain(`error ${rule}: ${file}`)
    })
  })

  it('finds process.env outside config.ts, and the path of a file taken from a URL', () => {
    const { status, output } = check('format and lint', {
      'lib/planted.ts': 'export const home = process.env.HOME\n',
      'scripts/planted.ts': "export const docs = new URL('../docs', import.meta.url).pathname\n",
    })
    expect(output).toContain('noProcessEnv')
    expect(output).toMatch(/scripts\/planted\.ts(.|\n)*The pathname of a URL is percent-encoded/)
    expect(status).toBe(1)
  })

  it('finds an unused export', () => {
    const { status, output } = check('dead code', { 'lib/planted.ts': 'export const planted = 1\n' })
    expect(output).toContain('lib/planted.ts')
    expect(status).toBe(1)
  })

  it('finds an edit to a landed migration', () => {
    const { status, output } = check('migrations', { 'drizzle/migrations/0000_init.sql': 'select 1' })
    expect(output).toContain('0000_init.sql differs from drizzle/migrations/landed.txt')
    expect(status).toBe(1)
  })

  it('finds a dead link and a dead anchor in the docs', () => {
    const text = '[a](nowhere.md) [b](planted.md#no-such-heading)\n'
    const { status, output } = check('doc links', { 'docs/planted.md': text })
    expect(output).toContain('docs/planted.md: nowhere.md')
    expect(output).toContain('docs/planted.md: planted.md#no-such-heading')
    expect(status).toBe(1)
  })

  it('finds a clause of the conformance table without a test, and a test without a clause', () => {
    const row = (proof: string) => `| A clause | MUST | ${proof} |\n`
    const { status, output } = check('conformance', {
      'docs/conformance.md': row('[core](../e2e/conformance/core.test.ts): no such test') + row(''),
    })
    expect(output).toContain('line 1: e2e/conformance/core.test.ts has no test "no such test"')
    expect(output).toContain('line 2: name tests as')
    expect(output).toContain('no clause names the test "ignores Tus-Resumable"')
    expect(status).toBe(1)
  })
})
