import { execFile, spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { sql } from 'drizzle-orm'
import { type DatabaseHandle, rows } from '#lib/platform/db/database.ts'
import { migrate } from '#lib/platform/db/migrate.ts'
import { openPostgres } from '#lib/platform/db/open-postgres.ts'
import { parseInput } from '#lib/platform/kernel/parse-input.ts'
import { makeKeyPair } from '#lib/sftp/make-key-pair.ts'
import { addSenderKey, senderKeyInput } from '#lib/sftp/sender-keys.ts'
import { readOptions } from '../../scripts/read-options.ts'
import { createDatabase, freePort, startPostgres } from '../../test/support/postgres.ts'
import { startSluice } from '../../test/support/sluice.ts'
import { endWithThisProcess } from '../../test/support/until-exit.ts'
import { createSite, type Site } from '../../test/support/upload-site.ts'
import { type Client, type Command, clientsOf, type Place, type Tools } from './clients.ts'

/**
 * `npm run drill -- sftp-clients`: runs real SFTP clients with the commands in the guide. Each uploads 200 MB, once
 * with a password and once with a key, is killed halfway, and resumes. The object must have the file's SHA-256. Clients
 * that are not installed are listed.
 */
const run = promisify(execFile)
const SUBJECT = 'partner'
const LOOK_MS = 20

type Stage = { database: DatabaseHandle; site: Site; port: number; folder: string; bytes: number }

async function versionOf({ version: [program, ...args] }: Client): Promise<string | undefined> {
  const found = await run(program!, args).catch((error: NodeJS.ErrnoException) => error)
  if ('code' in found && found.code === 'ENOENT') return undefined
  const { stdout, stderr } = found as { stdout: string; stderr: string }
  return (stdout || stderr).split('\n')[0]!.slice(0, 40)
}

function start({ program, args, env }: Command) {
  // Some clients start ssh, so each gets its own process group, which can be killed as a whole.
  const child = spawn(program, args, {
    detached: true,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  endWithThisProcess(child)
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += text))
  return {
    child,
    ended: once(child, 'close') as Promise<[number | null]>,
    said: () => said.trim().slice(-200),
  }
}

type File = { id: string; bytes: number; status: string }
const filesAt = ({ database }: Stage, remote: string) =>
  rows<File>(
    database.db,
    sql`select id, offset_bytes as bytes, status from files where filename = ${remote} order by id desc`,
  )

/** Kills the client once a third of its file is confirmed. Returns the number of bytes that are kept. */
async function interrupt(stage: Stage, command: Command, remote: string): Promise<number> {
  const { child, ended, said } = start(command)
  let isOver = false
  void ended.then(() => {
    isOver = true
  })
  while (((await filesAt(stage, remote))[0]?.bytes ?? 0) < stage.bytes / 3) {
    if (isOver) throw new Error(`the client exited before it was killed: ${said()}`)
    await sleep(LOOK_MS)
  }
  process.kill(-child.pid!, 'SIGKILL')
  await ended
  const look = sql`select offset_bytes as bytes from files where filename = ${remote} and lease_until is null`
  for (;;) {
    const [kept] = await rows<{ bytes: number }>(stage.database.db, look)
    if (kept) return kept.bytes
    await sleep(LOOK_MS)
  }
}

type Row = { well: boolean; kept: string; files: number; how: string }

async function tryClient(stage: Stage, client: Client, place: Place, sha256: string): Promise<Row> {
  const keptBytes = await interrupt(stage, await client.put(place), place.remote)
  const { ended, said } = start(await client.resume(place))
  const [code] = await ended
  const files = await filesAt(stage, place.remote)
  const [last] = files
  const key = (await stage.site.bucket.objects()).find((one) => one.startsWith(last!.id))
  const found = key && digestOf(await stage.site.bucket.object(key))
  const isEqual = found === sha256
  const resumed = files.length === 1
  const how = isEqual ? 'equal' : `${last!.status}, ${key ? 'a different SHA-256' : 'no object'}: ${said()}`
  return {
    well: code === 0 && isEqual && resumed === client.resumes,
    kept: `${(keptBytes / 1e6).toFixed(1)} MB`,
    files: files.length,
    how: code === 0 ? how : `exited with ${code}: ${said()}`,
  }
}

const digestOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

async function toolsIn(folder: string): Promise<Tools> {
  const askpass = join(folder, 'askpass')
  await writeFile(askpass, '#!/bin/sh\nprintf %s "$SLUICE_TOKEN"\n', { mode: 0o700 })
  return {
    askpass,
    async batch(lines) {
      const path = join(folder, 'batch')
      await writeFile(path, lines)
      return path
    },
    obscure: async (token) => (await run('rclone', ['obscure', token])).stdout.trim(),
  }
}

/** Adds a key to the Sender, and writes it to a file as ssh-keygen would. */
async function makeKey({ site, folder }: Stage): Promise<string> {
  const pair = makeKeyPair()
  const path = join(folder, 'key')
  await writeFile(path, pair.private, { mode: 0o600 })
  await writeFile(`${path}.pub`, pair.public)
  const fields = { name: 'Drill', publicKey: pair.public, subject: SUBJECT }
  await addSenderKey(site.runtime, site.actor, site.sender.id, parseInput(senderKeyInput, fields))
  return path
}

async function drill(stage: Stage, only: string | undefined): Promise<boolean> {
  const file = join(stage.folder, 'film.mp4')
  await writeFile(file, randomBytes(stage.bytes))
  const sha256 = digestOf(await readFile(file))
  const keyFile = await makeKey(stage)
  const token = await stage.site.token({ subject: SUBJECT })
  let well = true
  for (const client of clientsOf(await toolsIn(stage.folder))) {
    if (only !== undefined && only !== client.program) continue
    const version = await versionOf(client)
    if (!version) {
      console.log(`skipped: ${client.name} is not installed`)
      continue
    }
    for (const way of ['password', 'key'] as const) {
      const signIn = way === 'key' ? { keyFile, token: undefined } : { token, keyFile: undefined }
      const remote = `film-${client.program}-${way}.mp4`
      const place = { port: stage.port, user: stage.site.pipe.id, file, remote, ...signIn }
      const row = await tryClient(stage, client, place, sha256).catch(
        (error: Error): Row => ({ well: false, kept: '–', files: 0, how: error.message }),
      )
      well &&= row.well
      const went = row.files === 1 ? 'resumed' : 'started over'
      console.log(
        `${row.well ? 'ok  ' : 'FAIL'}  ${client.name} (${version}) with a ${way}: killed with ${row.kept} kept, ${went}, ${row.how}`,
      )
    }
  }
  return well
}

async function main(): Promise<boolean> {
  const usage = 'npm run drill -- sftp-clients [--mb 200] [--client <sftp|lftp|curl|rclone>]'
  const { values } = readOptions(usage, {
    options: { mb: { type: 'string', default: '200' }, client: { type: 'string' } },
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1))
  const folder = await mkdtemp(join(tmpdir(), 'sluice-sftp-clients-'))
  const postgres = await startPostgres()
  const { url, drop } = await createDatabase(postgres.url)
  const database = openPostgres({ address: url, maxConnections: 4 })
  await migrate(database.db)
  const site = await createSite(database, { pipe: { source: { http: false, sftp: true } } })
  const port = await freePort()
  const node = await startSluice({
    ROLES: 'upload',
    HOST: '127.0.0.1',
    BASE_URL: 'http://127.0.0.1:0',
    DATABASE_URL: url,
    DATA_DIR: '/nowhere/is-needed',
    ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    AUTH_SECRET: 'a secret of thirty-two characters',
    ALLOWED_PRIVATE_HOSTS: '*',
    LOG_LEVEL: 'warn',
    SFTP_PORT: String(port),
  })
  const stage = { database, site, port, folder, bytes: Number(values.mb) * 1e6 }
  const well = await drill(stage, values.client)
  await node.kill()
  await site.close()
  await database.close()
  await drop()
  await postgres.stop()
  await rm(folder, { recursive: true })
  return well
}

process.exit((await main()) ? 0 : 1)
