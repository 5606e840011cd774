import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { makeDataDir, readLocalSecrets } from './data-dir.ts'
import { StartError } from './kernel/errors.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-make-data-dir-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

const sentence = (dataDir: string): string => {
  try {
    makeDataDir(dataDir)
  } catch (error) {
    expect(error).toBeInstanceOf(StartError)
    return (error as Error).message
  }
  return ''
}

it('creates a folder that only its owner can access, and uses an existing one', () => {
  expect(sentence(join(folder, 'a/b'))).toBe('')
  expect(statSync(join(folder, 'a/b')).mode & 0o777).toBe(0o700)
  expect(sentence(join(folder, 'a/b'))).toBe('')
})

it('restricts access to a folder that contains its secrets, and leaves other folders unchanged', () => {
  const modeOf = (path: string) => statSync(path).mode & 0o066
  const [ours, theirs] = [join(folder, 'ours'), join(folder, 'theirs')]
  for (const path of [ours, theirs]) mkdirSync(path, { mode: 0o755 })
  readLocalSecrets(ours)
  chmodSync(ours, 0o755)
  makeDataDir(ours)
  makeDataDir(theirs)
  expect([modeOf(ours), modeOf(theirs)]).toEqual([0, 0o044])
})

it('reports a file at the path of the folder or of a parent folder', () => {
  writeFileSync(join(folder, 'file'), '')
  for (const path of [join(folder, 'file'), join(folder, 'file/data')])
    expect(sentence(path)).toBe(
      `Sluice cannot use ${path}: there is a file where a folder is needed. Move the file away, or set DATA_DIR to a folder.`,
    )
})

it('reports missing write permission', ({ skip }) => {
  if (process.platform !== 'linux')
    return skip('This system has no folder like /sys, in which nobody can create folders.')
  expect(sentence('/sys/sluice')).toMatch(
    /^Sluice cannot use \/sys\/sluice: (this user cannot write there|its file system is read-only)\. .* DATA_DIR/,
  )
})

it('reports a full disk', ({ skip }) => {
  const disk = join(folder, 'disk')
  makeDataDir(disk)
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'none', disk], { stdio: 'ignore' })
  } catch {
    return skip('Mounting a small disk requires root, and not every container allows it.')
  }
  try {
    expect(sentence(disk)).toBe(
      `Sluice cannot use ${disk}: its disk has 2 MiB left, and Sluice needs 32 to start. Free up space, or set DATA_DIR to a folder on another disk.`,
    )
  } finally {
    execFileSync('umount', [disk])
  }
})
