import { chmodSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openEmbedded } from './open-embedded.ts'

it('keeps others of the machine out of its files, in a folder that they may enter', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'sluice-embedded-'))
  try {
    chmodSync(dataDir, 0o755)
    const database = await openEmbedded(join(dataDir, 'db'))
    await database.close()
    expect(statSync(join(dataDir, 'db')).mode & 0o777).toBe(0o700)
  } finally {
    rmSync(dataDir, { recursive: true })
  }
})
