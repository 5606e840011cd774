import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, open, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { sql } from 'drizzle-orm'
import { freePort } from '../test/support/postgres.ts'
import type { Finding } from './cases.ts'
import { cpuPerGiB, inTurns, seconds } from './in-turns.ts'
import { MiB } from './load.ts'
import { type SluiceNode, startSluiceNode } from './sluice-site.ts'

const BYTES = 256 * MiB
const WHAT = 'throughput of one SFTP upload, relative to OpenSSH writing to /dev/null'
const SSHD = '/usr/sbin/sshd'
const SERVER = '/usr/lib/openssh/sftp-server'
const run = promisify(execFile)

type Way = { port: number; user: string; options: string[]; path: string; env?: Record<string, string> }

/** Runs the same client with its default settings, alternating between Sluice and OpenSSH, which discards the bytes. */
export async function benchSftp(postgresUrl: string, sinkUrl: string): Promise<Finding[]> {
  if (![SSHD, SERVER, '/usr/bin/sftp'].every(existsSync))
    return [{ what: WHAT, measured: 'not measured: OpenSSH is not installed', wanted: '≥ 0.5', holds: false }]
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-sftp-'))
  const port = await freePort()
  const site = await startSluiceNode(postgresUrl, sinkUrl, { SFTP_PORT: String(port) })
  await fill(join(folder, 'film.mp4'))
  const sshd = await startOpenSsh(folder)
  try {
    await site.database.db.execute(sql`update pipes set source_sftp = true`)
    const ours = { ...(await signIn(folder, site)), port, path: 'film.mp4' }
    const findings: Finding[] = []
    for (const [name, options] of CIPHERS)
      findings.push(await compare(folder, name, options, [ours, sshd.way]))
    const cpu = await cpuPerGiB(site.node, BYTES, () => upload(folder, ours))
    findings[0]!.measured += `; ${cpu.toFixed(2)} s of CPU per GiB in Sluice`
    return findings
  } finally {
    await sshd.stop()
    await site.node.stop()
    await site.drop()
    await rm(folder, { recursive: true })
  }
}

async function compare(folder: string, cipher: string, options: string[], ways: Way[]): Promise<Finding> {
  const put = (way: Way) => seconds(() => upload(folder, { ...way, options: [...way.options, ...options] }))
  const rates = (await inTurns(put, ways)).map((took) => BYTES / MiB / took)
  const [ours, theirs] = rates as [number, number]
  return {
    what: `${WHAT}, ${cipher}`,
    measured: `${(ours / theirs).toFixed(2)} times (${ours.toFixed(0)} to ${theirs.toFixed(0)} MiB/s)`,
    wanted: '≥ 0.5',
    holds: ours / theirs >= 0.5,
    bars: [
      { name: 'Sluice', value: ours, unit: 'MiB/s' },
      { name: 'OpenSSH', value: theirs, unit: 'MiB/s' },
    ],
  }
}

/** Writes a program that gives the client its password. */
async function signIn(
  folder: string,
  { target }: SluiceNode,
): Promise<Pick<Way, 'user' | 'options' | 'env'>> {
  const askpass = join(folder, 'askpass')
  await writeFile(askpass, '#!/bin/sh\nprintf %s "$SLUICE_TOKEN"\n', { mode: 0o700 })
  const token = target.headers.Authorization!.replace('Bearer ', '')
  return {
    user: new URL(target.collection).pathname.split('/')[2]!,
    options: ['-o', 'BatchMode=no'],
    env: { SSH_ASKPASS: askpass, SSH_ASKPASS_REQUIRE: 'force', SLUICE_TOKEN: token },
  }
}

/** This client's default cipher, and the one that newer clients prefer. */
const CIPHERS: [name: string, options: string[]][] = [
  ["the client's default cipher", []],
  ['AES-128-GCM', ['-c', 'aes128-gcm@openssh.com']],
]

async function upload(folder: string, { port, user, options, path, env }: Way): Promise<void> {
  const known = [
    '-o',
    'StrictHostKeyChecking=no',
    '-o',
    'UserKnownHostsFile=/dev/null',
    '-o',
    'LogLevel=ERROR',
  ]
  const batch = join(folder, `batch-${port}`)
  await writeFile(batch, `put ${join(folder, 'film.mp4')} ${path}\n`)
  await run('sftp', [...known, ...options, '-b', batch, '-P', String(port), `${user}@127.0.0.1`], {
    env: { ...process.env, ...env },
  })
}

async function fill(path: string): Promise<void> {
  const file = await open(path, 'w')
  const chunk = Buffer.alloc(MiB, 'film')
  for (let at = 0; at < BYTES; at += MiB) await file.write(chunk)
  await file.close()
}

async function startOpenSsh(folder: string) {
  const port = await freePort()
  const [hostKey, clientKey] = [join(folder, 'host'), join(folder, 'client')]
  for (const path of [hostKey, clientKey])
    await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', path])
  const settings = [
    `ListenAddress 127.0.0.1:${port}`,
    `HostKey ${hostKey}`,
    `AuthorizedKeysFile ${clientKey}.pub`,
    `PidFile none`,
    'StrictModes no',
    'UsePAM no',
    `Subsystem sftp ${SERVER}`,
  ]
  await writeFile(join(folder, 'sshd'), `${settings.join('\n')}\n`)
  if (userInfo().uid === 0) await run('mkdir', ['-p', '/run/sshd'])
  const child = spawn(SSHD, ['-D', '-e', '-f', join(folder, 'sshd')], { stdio: 'ignore' })
  await untilListening(child, port)
  return {
    way: {
      port,
      user: userInfo().username,
      options: ['-i', clientKey, '-o', 'IdentitiesOnly=yes'],
      path: '/dev/null',
    },
    async stop() {
      const gone = once(child, 'exit')
      child.kill()
      await gone
    },
  }
}

async function untilListening(child: ChildProcess, port: number): Promise<void> {
  while (child.exitCode === null) {
    const socket = connect(port, '127.0.0.1')
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    socket.destroy()
    if (isOpen) return
  }
  throw new Error(`sshd exited with ${child.exitCode}`)
}
