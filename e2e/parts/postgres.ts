import { execFileSync, spawn } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { delimiter, join } from 'node:path'
import postgres from 'postgres'
import { endWithThisProcess, removeWithThisProcess } from './until-exit.ts'

export type PostgresServer = {
  /** Of its maintenance database; the user may create databases. */
  url: string
  stop(): Promise<void>
  /** The postmaster, where it is ours: fault tests stop and kill it. */
  pid?: number
}

const HELP =
  'These tests need a real PostgreSQL (13 or newer). Set DATABASE_URL to one whose user may create databases, or install its programs: `apt-get install postgresql` or `brew install postgresql`.'

/** The PostgreSQL of DATABASE_URL, else one of our own from the system's programs in a temporary folder. */
export async function startPostgres(): Promise<PostgresServer> {
  const given = process.env.DATABASE_URL
  if (given) return { url: given, stop: async () => {} }
  const bin = findPrograms()
  if (!bin) throw new Error(HELP)
  return startOwn(bin)
}

/** Debian keeps initdb off the PATH, in a folder for each version. */
function findPrograms(): string | undefined {
  const debian = '/usr/lib/postgresql'
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : []
  const folders = [
    ...(process.env.PATH ?? '').split(delimiter),
    ...versions.map((version) => join(debian, version, 'bin')),
  ]
  return folders.find((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')))
}

async function startOwn(bin: string): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-postgres-'))
  const owner = serverOwner()
  if (owner.uid !== undefined) chownSync(folder, owner.uid, owner.gid!)
  const data = join(folder, 'data')
  const run = { ...owner, cwd: folder, stdio: 'pipe' as const }
  execFileSync(
    join(bin, 'initdb'),
    ['-D', data, '-U', 'sluice', '-A', 'trust', '-E', 'UTF8', '--no-sync'],
    run,
  )
  const port = await freePort()
  const args = ['-D', data, '-h', '127.0.0.1', '-p', String(port), '-k', folder, '-c', 'max_connections=300']
  const child = spawn(join(bin, 'postgres'), args, { ...owner, cwd: folder, stdio: 'ignore' })
  const removeFolder = removeWithThisProcess(folder)
  // At once, and its children with it.
  endWithThisProcess(child, 'SIGQUIT')
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const url = `postgres://sluice@127.0.0.1:${port}/postgres`
  await answers(url)
  return {
    url,
    pid: child.pid!,
    async stop() {
      child.kill('SIGINT')
      await ended
      removeFolder()
    },
  }
}

/** PostgreSQL refuses to run as root; the package's own user is there where the programs are. */
function serverOwner(): { uid?: number; gid?: number } {
  if (userInfo().uid !== 0) return {}
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
  return { uid: id('-u'), gid: id('-g') }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

async function answers(url: string): Promise<void> {
  const deadline = Date.now() + 30_000
  for (;;) {
    const client = postgres(url, { max: 1, connect_timeout: 2, onnotice: () => {} })
    try {
      await client`select 1`
      return
    } catch (error) {
      if (Date.now() > deadline) throw error
      await new Promise((resolve) => setTimeout(resolve, 50))
    } finally {
      await client.end({ timeout: 1 })
    }
  }
}

/** A fresh, empty database on that server. */
export async function createDatabase(serverUrl: string): Promise<{ url: string; drop(): Promise<void> }> {
  const name = `sluice_${process.pid}_${Math.random().toString(36).slice(2, 10)}`
  const admin = async (statement: string) => {
    const client = postgres(serverUrl, { max: 1, onnotice: () => {} })
    await client.unsafe(statement).finally(() => client.end())
  }
  await admin(`create database ${name}`)
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return { url: url.href, drop: () => admin(`drop database if exists ${name} with (force)`) }
}
