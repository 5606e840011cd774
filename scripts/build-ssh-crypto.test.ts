import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { expect, it } from 'vitest'
import { ADDON, buildSshCryptoIfNeeded } from './build-ssh-crypto.ts'

it('compiles the SSH addon for this Node if the installation compiled it for another', ({ skip }) => {
  if (!existsSync(ADDON)) skip('There was no compiler during the installation.')
  buildSshCryptoIfNeeded()
  const { status, stderr } = spawnSync(process.execPath, ['-p', `require(${JSON.stringify(ADDON)})`])
  expect(status, String(stderr)).toBe(0)
}, 120_000)
