import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-backup-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

it.each([
  ['backup', ['--help'], "Unknown option '--help'. Usage: npm run admin -- backup [sluice.backup]"],
  ['restore', [], 'The file is missing. Usage: npm run admin -- restore sluice.backup'],
])('`npm run %s` with %o shows its usage and changes nothing', (name, options, usage) => {
  const { status, stderr } = spawnSync(process.execPath, [resolve(`scripts/${name}.ts`), ...options], {
    cwd: folder,
    env: { ...process.env, DATA_DIR: join(folder, 'data'), DATABASE_URL: '' },
    encoding: 'utf8',
  })
  expect([status, stderr]).toEqual([1, `${usage}\n`])
  expect(readdirSync(folder)).toEqual([])
})
