import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { createSluice } from '../../packages/node/src/client.ts'
import { buildKitIfNeeded } from '../../scripts/kit.ts'
import { runCli } from '../../test/support/packed-kit.ts'
import { temporaryFolder } from '../../test/support/sluice.ts'

/** Runs `sluice apply` as a program against a Sluice server. Its changes are tested in lib/api/apply.db.test.ts. */
const { baseUrl, accountKey } = inject('demo')
const sluice = createSluice({ baseUrl, accountKey })
const home = temporaryFolder()
const file = join(home.path, 'sluice.yaml')
const name = `applied-${randomUUID()}`
beforeAll(() => {
  buildKitIfNeeded()
  writeFileSync(file, `version: 1\nsenders:\n  - name: ${name}\n`)
})
afterAll(() => home[Symbol.dispose]())

const env = { SLUICE_CONFIG_DIR: home.path, SLUICE_URL: baseUrl, SLUICE_ACCOUNT_KEY: accountKey }
const run = (...args: string[]) => runCli('packages/cli/dist/sluice.js', args, { env })

it('reports drift with exit code 2, changes nothing without --yes, and finds nothing to change the second time', async () => {
  expect(await run('apply', '-f', file, '--check')).toMatchObject({
    code: 2,
    stdout: expect.stringContaining(`+ create sender "${name}"\n1 to create, 0 to change, 0 to delete`),
  })
  expect(await run('apply', '-f', file)).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') })
  const done = await run('apply', '-f', file, '--yes')
  expect(done).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/sender ".+": sk_\w+\nThe workspace matches the file/),
  })
  expect(await run('apply', '-f', file, '--check')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('1 unchanged'),
  })
  const { code, stdout } = await run('export')
  expect(code).toBe(0)
  expect(stdout).toContain(`  - name: ${name}\n`)
})

it('does not change the workspace during another run, and names who started that run', {
  tags: 'long',
}, async () => {
  const holder = randomUUID()
  await sluice.lockConfiguration({ holder })
  expect(await run('apply', '-f', file, '--yes')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /This workspace is being changed in another run by .+, until \S+Z at the latest\. Nothing was changed\./,
    ),
  })
  await sluice.unlockConfiguration({ holder })
  expect((await run('apply', '-f', file, '--yes')).code).toBe(0)
})

it('names the line of a file that is not YAML', async () => {
  const broken = join(home.path, 'broken.yaml')
  writeFileSync(broken, 'version: 1\npipes: [')
  expect(await run('apply', '-f', broken)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('line 2'),
  })
})
