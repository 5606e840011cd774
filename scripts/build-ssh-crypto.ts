import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'

const FOLDER = dirname(createRequire(import.meta.url).resolve('ssh2/package.json'))
/** This file does not exist if there was no compiler during the installation. */
export const ADDON = join(FOLDER, 'lib/protocol/crypto/build/Release/sshcrypto.node')
const MARK = join(FOLDER, 'lib/protocol/crypto/build/sluice-node')
const HEADERS = resolve(`node_modules/node-${process.platform}-${process.arch}`)

/**
 * `npm ci` compiles the addon with which ssh2 encrypts, for the Node that runs npm. A different Node cannot load it,
 * and ssh2 then encrypts in JavaScript: SFTP uploads take 1.6 times as much CPU time. So the addon is compiled again
 * for the Node that is running.
 */
export function buildSshCryptoIfNeeded(): void {
  const { modules } = process.versions
  if (!existsSync(ADDON) || (existsSync(MARK) && readFileSync(MARK, 'utf8') === modules)) return
  if (!loadsElsewhere()) {
    const nodedir = existsSync(join(HEADERS, 'include')) ? { npm_config_nodedir: HEADERS } : {}
    spawnSync('npm', ['rebuild', 'ssh2'], { stdio: 'ignore', env: { ...process.env, ...nodedir } })
  }
  // ssh2 also works without the addon, if it cannot be compiled or the folder is read-only.
  try {
    writeFileSync(MARK, modules)
  } catch {}
}

/**
 * Tries to load the addon in another process: once a process has failed to load an addon, it also fails to load a new
 * one from the same path.
 */
function loadsElsewhere(): boolean {
  return (
    spawnSync(process.execPath, ['-e', `require(${JSON.stringify(ADDON)})`], { stdio: 'ignore' }).status === 0
  )
}
