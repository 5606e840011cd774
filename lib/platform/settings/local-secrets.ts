import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeDataDir } from '../data-dir/make-data-dir.ts'

export type LocalSecrets = { encryptionKey: string; authSecret: string; metricsToken: string }

/** The keys of the embedded default: made once, readable by their owner alone. */
export function readLocalSecrets(dataDir: string): LocalSecrets {
  const file = join(dataDir, 'secrets.json')
  const random = () => randomBytes(32).toString('base64')
  makeDataDir(dataDir)
  const fresh: LocalSecrets = { encryptionKey: random(), authSecret: random(), metricsToken: random() }
  try {
    writeFileSync(file, `${JSON.stringify(fresh, null, 2)}\n`, { mode: 0o600, flag: 'wx' })
    return fresh
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return JSON.parse(readFileSync(file, 'utf8')) as LocalSecrets
  }
}
