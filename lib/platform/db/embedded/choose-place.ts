import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import type { Place } from '../database.ts'
import { PASSWORD_FILE, USER } from './make-cluster.ts'

/** As long as a socket's path may be: sockaddr_un.sun_path, with its end. */
const LONGEST_SOCKET = process.platform === 'darwin' ? 103 : 107
const SOCKET_PORT = 5432
const DATABASE = 'postgres'

/**
 * Where PostgreSQL listens: at a socket in its own folder, which nobody but its owner can enter, else on this machine's
 * loopback, where everybody can knock and needs the password.
 */
export async function choosePlace(folder: string): Promise<Place> {
  if (socketFits(folder)) return socketIn(folder)
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  await new Promise((resolve) => probe.close(resolve))
  return loopback(folder, port)
}

/** Where the one that another process started listens. */
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
