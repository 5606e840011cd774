import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeTarball } from '../release/write-tarball.ts'
import { readApi } from './api-model.ts'
import { writeGo } from './write-go.ts'

/** Packs the Go module as a folder for a `replace` line in go.mod. Runs in the module's folder. */
writeGo(readApi())
// A go.mod has no version of its own.
const { version } = JSON.parse(readFileSync('../../package.json', 'utf8')) as { version: string }
const folder = mkdtempSync(join(tmpdir(), 'sluice-go-'))
const files = globSync('{*.go,go.mod,README.md,LICENSE}').filter((file) => !file.endsWith('_test.go'))
for (const file of files) cpSync(file, join(folder, file))
mkdirSync('dist', { recursive: true })
await writeTarball(folder, `dist/go-sluice-${version}.tgz`, 'sluice')
rmSync(folder, { recursive: true })
