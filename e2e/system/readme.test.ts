/** @module-tag long */
import { execFile, spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { readmeCommands } from '../../test/support/readme-commands.ts'
import { copySource, startSluice, temporaryFolder } from '../../test/support/sluice.ts'

it("the README's five minutes work as described, in a new folder with an empty home", async ({ skip }) => {
  if (spawnSync('curl', ['--version']).status !== 0) skip('The README uses curl, which is not installed.')
  using home = temporaryFolder()
  const { parent, source } = copySource()
  try {
    const sluice = await startSluice({ LOG_LEVEL: 'warn' }, source)
    const env = { NODE_ENV: 'production' as const, PATH: process.env.PATH, HOME: home.path }
    const { stdout } = await promisify(execFile)('bash', ['-ec', readmeCommands('Five minutes')], {
      cwd: source,
      env,
    })
    expect(sluice.output()).not.toContain('ExperimentalWarning')
    const [address, equal, deliveries] = stdout.trim().split('\n').slice(-3)
    expect(address).toMatch(`${sluice.baseUrl}/pipes/`)
    expect(equal).toBe('equal')
    expect(JSON.parse(deliveries!)).toMatchObject({ data: [{ fileId: address!.split('/').at(-1) }] })
    expect(await sluice.stop()).toBe(0)
  } finally {
    rmSync(parent, { recursive: true })
  }
})
