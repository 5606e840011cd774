import { spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, it, type TestContext } from 'vitest'
import {
  compileCache,
  isAlive,
  PRELOADED,
  type Sluice,
  sourceFolder,
  startSluice,
  temporaryFolder,
} from '../../test/support/sluice.ts'
import { readDemo, targetOf } from '../../test/support/target.ts'
import { tusClient } from '../../test/support/tus-client.ts'

/** The PostgreSQL that Sluice runs itself: how it starts, crashes, restarts and stops, and when it cannot start. */
const MiB = 1024 * 1024
const PIECE = 3 * MiB
const NAMES = ['0.bin', '1.bin', '2.bin']
const isRoot = process.getuid?.() === 0
/** An unused user id, with no entry in /etc/passwd. */
const SOMEBODY = { uid: 65_528, gid: 65_528 }
const SMALL = { ROLES: 'upload', DEMO: '0' }

const postmasterOf = (dataDir: string) =>
  Number.parseInt(readFileSync(join(dataDir, 'db/postmaster.pid'), 'utf8'), 10)

const gone = (pid: number) => expect.poll(() => isAlive(pid)).toBe(false)

/** The process that stops PostgreSQL when Sluice is gone. */
function watcherOf(dataDir: string): number {
  const folder = join(dataDir, 'db')
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
      if (command.includes('read -r') && readlinkSync(`/proc/${pid}/cwd`) === folder) return Number(pid)
    } catch {
      // The process has already exited.
    }
  }
  throw new Error('There is no process that stops PostgreSQL.')
}

/**
 * The memory of Sluice alone, and with all PostgreSQL processes, in MiB. Pages that several of them share are counted
 * once.
 */
function memoryOf({ pid }: Sluice, dataDir: string): { own: number; all: number } {
  const share = (of: number | string) =>
    Number(readFileSync(`/proc/${of}/smaps_rollup`, 'utf8').match(/^Pss: +(\d+)/m)![1]) / 1024
  const postmaster = postmasterOf(dataDir)
  const backends = readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8').trim().split(' ')
  // A backend that has exited since it was listed uses no memory.
  const shareOfBackend = (of: string) => {
    try {
      return share(of)
    } catch (error) {
      if (isAlive(Number(of))) throw error
      return 0
    }
  }
  const own = share(pid)
  return {
    own,
    all: backends.reduce((sum, of) => sum + shareOfBackend(of), own + share(postmaster)),
  }
}

async function clientOf(dataDir: string) {
  const target = targetOf(readDemo(dataDir))
  return tusClient({ url: target.baseUrl, pipeId: target.pipeId, token: (await target.token()).token })
}

type Client = Awaited<ReturnType<typeof clientOf>>

/**
 * Acts like a client: requests the offset after each fault, and continues. Calls `onPiece` when a piece is accepted.
 */
async function upload(client: Client, url: string, content: Buffer, onPiece: () => void): Promise<void> {
  for (;;) {
    const head = await client.head(url).catch(() => undefined)
    const offset = Number(head?.headers['upload-offset'] ?? Number.NaN)
    if (offset === content.length) return
    if (Number.isNaN(offset)) continue
    const sent = await client
      .patch(url, offset, content.subarray(offset, offset + PIECE))
      .catch(() => undefined)
    if (sent?.status === 204) onPiece()
  }
}

it('uses at most 300 MiB while idle, and restarts a PostgreSQL that is killed under load, so that uploads continue', {
  tags: 'long',
}, async () => {
  using folder = temporaryFolder()
  const sluice = await startSluice({ DATA_DIR: folder.path, FREE_TIER_BYTES: '0' })
  if (process.platform === 'linux') expect(memoryOf(sluice, folder.path).all).toBeLessThan(300)
  const { bucket } = readDemo(folder.path)
  const client = await clientOf(folder.path)
  const contents = [20, 18, 16].map((size) => randomBytes(size * MiB))
  let pieces = 0
  const killed: number[] = []
  await Promise.all(
    contents.map(async (content, at) => {
      const created = await client.create(content.length, {
        'Upload-Metadata': `filename ${btoa(NAMES[at]!)}`,
      })
      await upload(client, created.headers.location!, content, () => {
        if (++pieces !== 4 && pieces !== 12) return
        killed.push(postmasterOf(folder.path))
        process.kill(killed.at(-1)!, 'SIGKILL')
      })
    }),
  )
  expect(new Set(killed).size).toBe(2)
  // A client whose last response was lost may see the full offset before the object exists.
  const stored = () =>
    readdirSync(bucket.directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  await expect
    .poll(
      () =>
        stored()
          .map(({ name }) => name)
          .sort(),
      { timeout: 90_000 },
    )
    .toEqual(NAMES)
  for (const { parentPath, name } of stored())
    expect(readFileSync(join(parentPath, name)).equals(contents[NAMES.indexOf(name)]!)).toBe(true)
  expect(sluice.output()).toContain('PostgreSQL ended unexpectedly and is being restarted')
  expect(await sluice.stop()).toBe(0)
})

it('an upload node uses at most 130 MiB while idle; Sluice starts again after being killed or with another pid in its lock files, and stops PostgreSQL when it is stopped', async () => {
  using folder = temporaryFolder()
  const start = () => startSluice({ DATA_DIR: folder.path, ...SMALL, LOG_LEVEL: 'debug' })
  const first = await start()
  const [ofFirst, watcher] = [postmasterOf(folder.path), watcherOf(folder.path)]
  await first.kill()
  await Promise.all([gone(ofFirst), gone(watcher)])

  const second = await start()
  const ofSecond = postmasterOf(folder.path)
  if (process.platform === 'linux') {
    const { own, all } = memoryOf(second, folder.path)
    expect(own).toBeLessThan(130)
    expect(all - own).toBeLessThan(60)
  }
  expect(second.output()).toContain('database system was shut down')
  process.kill(watcherOf(folder.path), 'SIGKILL')
  await second.kill()
  expect(isAlive(ofSecond)).toBe(true)

  const third = await start()
  const ofThird = postmasterOf(folder.path)
  expect(isAlive(ofSecond)).toBe(false)
  expect(await third.stop()).toBe(0)
  expect(third.output()).toMatch(/"msg":"stopping"[\s\S]*database system is shut down/)
  await gone(ofThird)

  // Another process of PostgreSQL's user may have this pid by now.
  const db = join(folder.path, 'db')
  const other = spawn('sleep', ['600'], { uid: statSync(db).uid })
  for (const name of ['postmaster.pid', '.s.PGSQL.5432.lock'])
    writeFileSync(join(db, name), `${other.pid}\n${db}\n0\n5432\n`)
  expect(await (await start()).stop()).toBe(0)
  other.kill()
})

/** Skips the test unless the condition holds. */
function only(when: boolean, why: string, { skip }: TestContext): void {
  if (!when) skip(why)
}

it('runs as a user id without a name, as in a container', { tags: 'long' }, async (test) => {
  only(isRoot, 'Only root can become another user.', test)
  only(mayRead(), 'Other users cannot read this folder.', test)
  using folder = temporaryFolder()
  chownSync(folder.path, SOMEBODY.uid, SOMEBODY.gid)
  const sluice = await startSluice({ DATA_DIR: folder.path, ...SMALL }, process.cwd(), SOMEBODY)
  expect(statSync(join(folder.path, 'db')).uid).toBe(SOMEBODY.uid)
  expect(await sluice.stop()).toBe(0)
})

it("when started by root, runs PostgreSQL as the folder's owner, otherwise as an unused user id", {
  tags: 'long',
}, async (test) => {
  only(isRoot, 'Only root can switch users.', test)
  using folder = temporaryFolder()
  const start = () => startSluice({ DATA_DIR: folder.path, ...SMALL })
  const userOf = (sluice: Sluice) => {
    const { uid } = statSync(`/proc/${postmasterOf(folder.path)}`)
    return sluice.stop().then(() => uid)
  }
  expect(await userOf(await start())).toBe(65_530)
  rmSync(join(folder.path, 'db'), { recursive: true })
  chownSync(folder.path, SOMEBODY.uid, SOMEBODY.gid)
  expect(await userOf(await start())).toBe(SOMEBODY.uid)
})

function mayRead(): boolean {
  return spawnSync('test', ['-r', join(process.cwd(), 'server.ts')], { ...SOMEBODY, cwd: '/' }).status === 0
}

/** The message for a DATA_DIR that Sluice cannot use: one or two sentences, and no stack trace. */
function refusalOf(dataDir: string, flags: string[] = []): string {
  const { status, stderr } = spawnSync(process.execPath, [...flags, ...PRELOADED, 'server.ts'], {
    cwd: sourceFolder(),
    encoding: 'utf8',
    env: {
      ...compileCache(),
      NODE_ENV: 'production',
      PATH: process.env.PATH,
      PORT: '0',
      DATA_DIR: dataDir,
      ...SMALL,
    },
  })
  expect(status).toBe(1)
  expect(stderr.trim().split('\n')).toHaveLength(1)
  return stderr
}

it('names the reason and the remedy for a folder that it does not own', async (test) => {
  using folder = temporaryFolder()
  const db = join(folder.path, 'db')
  mkdirSync(db)
  writeFileSync(join(db, 'PG_VERSION'), '17\n')
  expect(refusalOf(folder.path)).toMatch(/early versions kept a PGlite database.*left untouched/)
  writeFileSync(join(db, 'sluice.password'), 'x')
  expect(refusalOf(folder.path)).toMatch(/written by PostgreSQL 17.*npm run admin -- backup/)
  expect(readdirSync(db).sort()).toEqual(['PG_VERSION', 'sluice.password'])
  only(isRoot, 'A folder of another user was not tested: only root can create one.', test)
})

for (const [name, option, words] of [
  ['a full disk', 'size=8m', 'MiB left, and Sluice needs 32 to start. Free up space'],
  ['a read-only file system', 'ro', 'its file system is read-only'],
] as const) {
  it(`reports ${name}`, { tags: 'long' }, async (test) => {
    using folder = temporaryFolder()
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', option, 'none', folder.path]).status === 0
    only(mounted, 'This user may not mount such a file system.', test)
    try {
      expect(refusalOf(join(folder.path, 'data'))).toContain(words)
    } finally {
      spawnSync('umount', [folder.path])
    }
  })
}

it('reports a file in place of the folder', { tags: 'long' }, () => {
  using folder = temporaryFolder()
  const file = join(folder.path, 'data')
  writeFileSync(file, '')
  expect(refusalOf(file)).toContain(`Sluice cannot use ${file}: there is a file where a folder is needed.`)
})

it('suggests DATABASE_URL if no package has a PostgreSQL for the platform', { tags: 'long' }, () => {
  using folder = temporaryFolder()
  const other = 'data:text/javascript,Object.defineProperty(process, "arch", { value: "riscv64" })'
  expect(refusalOf(folder.path, ['--import', other])).toMatch(
    /embedded PostgreSQL is not available.*-riscv64 is not installed.*Set DATABASE_URL/,
  )
})
