import { execFile, execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { buildKitIfNeeded } from '../../scripts/kit.ts'
import { removeWithThisProcess } from './until-exit.ts'

/** A user's folder with a kit package, installed from the same tarball that users install. */
export type PackedKit = { tarball: string; files: string[]; folder: string; remove(): void }

type Packed = { filename: string; files: { path: string }[] }

export function installPacked(name: string): PackedKit {
  buildKitIfNeeded()
  const folder = mkdtempSync(join(tmpdir(), 'sluice-kit-'))
  const npm = (...args: string[]) =>
    execFileSync('npm', [...args, '--json', '--silent'], { encoding: 'utf8', cwd: folder })
  const packed: Packed[] = JSON.parse(npm('pack', resolve('packages', name), '--pack-destination', folder))
  const { filename, files } = packed[0]!
  const tarball = join(folder, filename)
  mkdirSync(join(folder, 'app'))
  writeFileSync(join(folder, 'app/package.json'), '{"private": true, "type": "module"}\n')
  // Users install its peer dependencies, such as React, themselves.
  const alone = ['--legacy-peer-deps', '--offline', '--no-audit', '--no-fund']
  npm('install', tarball, '--prefix', join(folder, 'app'), ...alone)
  return {
    tarball,
    files: files.map(({ path }) => path),
    folder: join(folder, 'app'),
    remove: removeWithThisProcess(folder),
  }
}

export type Ran = { code: number; stdout: string; stderr: string }

/** Runs the command-line tool to completion. */
export function runCli(program: string, args: string[], { input = '', env = {} } = {}): Promise<Ran> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [program, ...args],
      { env: { PATH: process.env.PATH, ...env } as never },
      (error, stdout, stderr) => resolve({ code: (error?.code as number | undefined) ?? 0, stdout, stderr }),
    )
    child.stdin!.end(input)
  })
}
