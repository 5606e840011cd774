import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { freePort } from './postgres.ts'
import { endWithThisProcess, removeWithThisProcess } from './until-exit.ts'

const NOBODY = 65_534

export const hasPgbouncer = (): boolean => spawnSync('pgbouncer', ['--version']).status === 0

/** Starts PgBouncer, which must be installed, in front of the server at this URL. */
export async function startPgbouncer(
  serverUrl: string,
  { mode, serverConnections = 10 }: { mode: 'session' | 'transaction'; serverConnections?: number },
) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-pgbouncer-'))
  const removeFolder = removeWithThisProcess(folder)
  const { hostname, port: serverPort, username, pathname } = new URL(serverUrl)
  const port = await freePort()
  const settings = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'any',
    pool_mode: mode,
    default_pool_size: serverConnections,
    max_client_conn: 1000,
  }
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`)
  const config = join(folder, 'pgbouncer.ini')
  const target = `host=${hostname} port=${serverPort} user=${username}`
  writeFileSync(config, `[databases]\n* = ${target}\n[pgbouncer]\n${lines.join('\n')}\n`, { mode: 0o644 })
  chmodSync(folder, 0o755)
  const as = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}
  const child = spawn('pgbouncer', [config], { ...as, stdio: ['ignore', 'ignore', 'pipe'] })
  endWithThisProcess(child)
  const up = Promise.withResolvers<void>()
  createInterface(child.stderr!).on('line', (line) => line.includes('process up') && up.resolve())
  await Promise.race([
    up.promise,
    once(child, 'exit').then(() => Promise.reject(new Error('PgBouncer exited.'))),
  ])
  return {
    pid: child.pid!,
    url: `postgres://${username}@127.0.0.1:${port}${pathname}`,
    async stop() {
      child.kill('SIGKILL')
      await once(child, 'exit')
      removeFolder()
    },
  }
}
