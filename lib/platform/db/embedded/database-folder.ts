import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  lchownSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
} from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { basename, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { StartError } from '../../kernel/errors.ts'
import type { Place } from '../database.ts'
import { PASSWORD_FILE, USER } from './make-cluster.ts'
import type { RunAs } from './run-as.ts'

/** The maximum length of a socket path in bytes: the size of sockaddr_un.sun_path without its terminator. */
const LONGEST_SOCKET = process.platform === 'darwin' ? 103 : 107
const SOCKET_PORT = 5432
const DATABASE = 'postgres'

/**
 * Chooses where PostgreSQL listens: on a socket in its own folder, which only its owner can enter, or otherwise on
 * this machine's loopback interface, where every user can connect but needs the password.
 */
export async function choosePlace(folder: string): Promise<Place> {
  if (socketFits(folder)) return socketIn(folder)
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  await new Promise((resolve) => probe.close(resolve))
  return loopback(folder, port)
}

/** The place where a PostgreSQL server that another process started is listening. */
export function readPlace(folder: string): Place {
  if (socketFits(folder)) return socketIn(folder)
  const port = Number(readFileSync(join(folder, 'postmaster.pid'), 'utf8').split('\n')[3])
  return loopback(folder, port)
}

function socketFits(folder: string): boolean {
  const path = join(folder, `.s.PGSQL.${SOCKET_PORT}`)
  return process.platform !== 'win32' && Buffer.byteLength(path) <= LONGEST_SOCKET
}

const socketIn = (folder: string): Place => ({
  host: folder,
  port: SOCKET_PORT,
  user: USER,
  password: '',
  database: DATABASE,
})

function loopback(folder: string, port: number): Place {
  const password = readFileSync(join(folder, PASSWORD_FILE), 'utf8')
  return { host: '127.0.0.1', port, user: USER, password, database: DATABASE }
}

/** Whether PostgreSQL's folder exists; throws if it exists but is unusable. */
export function clusterIsThere(folder: string, major: number, as: RunAs | undefined): boolean {
  const found = statSync(folder, { throwIfNoEntry: false })
  if (!found) return false
  const uid = as?.uid ?? process.getuid?.()
  // PostgreSQL never runs as root, so a folder that root owns is a copy that root made.
  const isCopy = as !== undefined && found.uid === 0
  if (uid !== undefined && found.uid !== uid && !isCopy) {
    const who = `user ${found.uid}, but PostgreSQL, which must run as its owner, would run as user ${uid}`
    throw new StartError(
      `The embedded database's folder, ${folder}, belongs to ${who}. Start Sluice as its owner, or change the owner: chown -R ${uid} ${folder}`,
    )
  }
  const version = readFileSync(join(folder, 'PG_VERSION'), 'utf8').trim()
  if (!existsSync(join(folder, PASSWORD_FILE))) {
    throw new StartError(
      `${folder} was not created by this version of Sluice; early versions kept a PGlite database there, which PostgreSQL cannot open. It is left untouched: move it away, or choose another DATA_DIR.`,
    )
  }
  if (Number(version) !== major) {
    throw new StartError(
      `${folder} was written by PostgreSQL ${version}, but this version of Sluice includes PostgreSQL ${major}, which cannot open it. Start the version of Sluice that wrote it, run \`npm run admin -- backup\`, and restore that backup into a new DATA_DIR with this version.`,
    )
  }
  if (isCopy) handOver(folder, as)
  return true
}

function handOver(folder: string, { uid, gid }: RunAs): void {
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
    lchownSync(join(folder, name), uid, gid)
  lchownSync(folder, uid, gid)
  chmodSync(folder, 0o700)
}

/** The signals that stop PostgreSQL, in the order in which they are tried, and how long each may take. */
const STEPS: [NodeJS.Signals, ms: number][] = [
  ['SIGINT', 10_000],
  ['SIGQUIT', 5000],
  ['SIGKILL', 1000],
]
const LOOK_EVERY_MS = 20
/** The second one exists if PostgreSQL listens on a socket in its folder. */
const LOCK_FILES = ['postmaster.pid', `.s.PGSQL.${SOCKET_PORT}.lock`] as const

/**
 * Stops the PostgreSQL server that a killed Sluice process left behind. The caller must hold the folder's lock, which
 * proves that the server is orphaned. Also removes the server's lock files: if the PID in one now belongs to a different
 * process, for example after a container restart, it would keep PostgreSQL from starting.
 */
export async function endOrphan(folder: string): Promise<void> {
  const pid = readPid(join(folder, LOCK_FILES[0]))
  for (const [signal, ms] of STEPS) {
    if (pid === undefined || !isPostmasterOf(pid, folder)) break
    process.kill(pid, signal)
    const deadlineMs = performance.now() + ms
    while (isPostmasterOf(pid, folder) && performance.now() < deadlineMs) await delay(LOOK_EVERY_MS)
  }
  for (const name of LOCK_FILES) rmSync(join(folder, name), { force: true })
}

function readPid(file: string): number | undefined {
  try {
    const pid = Number.parseInt(readFileSync(file, 'utf8'), 10)
    return pid > 0 ? pid : undefined
  } catch {
    return undefined
  }
}

function isPostmasterOf(pid: number, folder: string): boolean {
  try {
    if (process.platform === 'linux') {
      const program = basename(readlinkSync(`/proc/${pid}/exe`)).replace(/ \(deleted\)$/, '')
      return program === 'postgres' && readlinkSync(`/proc/${pid}/cwd`) === realpathSync(folder)
    }
    process.kill(pid, 0)
    if (process.platform === 'win32') return true
    const command = execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' })
    return command.includes('postgres') && command.includes(folder)
  } catch {
    return false
  }
}
