import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { MALLOC, NODE_FLAGS } from '../test/support/sluice.ts'

const ANALYZE = 'systemd-analyze'
const isMissing = spawnSync(ANALYZE, ['--version']).error !== undefined
if (isMissing) console.warn(`skipped, not installed: ${ANALYZE}`)

const unit = readFileSync('deploy/systemd/sluice@.service', 'utf8')

it('the systemd unit starts Node like the image', () => {
  const started = unit.match(/^ExecStart=(.+)$/m)![1]
  expect(started).toBe(['/opt/sluice/node_modules/.bin/node', ...NODE_FLAGS, 'server.ts'].join(' '))
})

it.each(['deploy/systemd/sluice@.service', 'Dockerfile', 'packages/server/launch.cjs'])(
  '%s makes malloc return memory',
  (file) => {
    const text = readFileSync(file, 'utf8')
    const set = [...text.matchAll(/\b(MALLOC_\w+)(?:=|: ')(\d+)/g)].map(([, name, value]) => [name, value])
    expect(Object.fromEntries(set)).toEqual(MALLOC)
  },
)

it.skipIf(isMissing)('systemd accepts the unit', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-systemd-'))
  const file = join(folder, 'sluice@.service')
  const here = (text: string) => text.replaceAll('/opt/sluice/node_modules/.bin/node', process.execPath)
  const verify = (text: string) => {
    writeFileSync(file, here(text))
    return spawnSync(ANALYZE, ['verify', '--man=no', file], { encoding: 'utf8' }).stderr
  }
  const about = (said: string) => said.split('\n').filter((line) => line.includes('sluice@'))
  expect(about(verify(unit))).toEqual([])
  expect(about(verify(unit.replace('Restart=on-failure', 'Restart=perhaps')))).not.toEqual([])
  rmSync(folder, { recursive: true })
})
