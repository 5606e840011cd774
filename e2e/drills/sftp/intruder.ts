import { randomBytes } from 'node:crypto'
import { listTokens, revokeToken } from '#lib/workspace/tokens/given-tokens.ts'
import { connectSftp } from '../../../test/support/sftp-site.ts'
import type { Site } from '../../../test/support/upload-site.ts'
import type { Target } from './attacker.ts'

export type Tried = { what: string; well: boolean; how: string }

/** Runs a client that tries things which its token does not permit. Returns the outcome of each attempt. */
export async function intrude(site: Site, target: Target): Promise<Tried[]> {
  const connect = async (input: Record<string, unknown>) => connectSftp(target, await site.token(input))
  const tried: Tried[] = []
  const expectRefused = async (what: string, attempt: () => Promise<unknown>) => {
    const how = await attempt().then(
      () => 'it worked',
      (error: Error) => error.message,
    )
    tried.push({ what, well: how !== 'it worked', how })
  }
  const expect = (what: string, well: boolean, how: string) => tried.push({ what, well, how })

  const owner = await connect({ subject: 'owner' })
  await owner.put('private.bin', randomBytes(1000))
  const half = await owner.open('half.bin', 'w')
  await owner.write(half, randomBytes(1000), 0)

  const thief = await connect({ subject: 'thief' })
  expect("another subject's directory", (await thief.list('/')).length === 0, 'an empty directory')
  for (const path of ['private.bin', '/../private.bin', '../owner/private.bin', 'half.bin'])
    await expectRefused(`the size of ${path}`, () => thief.stat(path))
  await expectRefused("continuing somebody else's file", () => thief.open('half.bin', 'r+'))
  await expectRefused("removing somebody else's file", () => thief.run('unlink', 'private.bin'))
  await expectRefused('reading a file', () => thief.open('/etc/passwd', 'r'))
  await expectRefused('reading back its own file', async () => {
    await thief.put('own.bin', randomBytes(100))
    return thief.open('own.bin', 'r')
  })
  await tryPaths(thief, expectRefused)
  expect('paths out of the directory', (await thief.stat('a/../../own.bin')).size === 100, 'they stay in it')
  await tryLinks(thief, expectRefused)
  await thief.end()
  await owner.end()
  await tryPackets(site, target, expect)

  const { token, id } = await tokenOf(site)
  const revoked = await connectSftp(target, token)
  const handle = await revoked.open('revoked.bin', 'w')
  await revoked.write(handle, Buffer.from('kept'), 0)
  await revokeToken(site.runtime, site.actor, id)
  const writes: string[] = []
  // Sessions are checked once a second, so a few more writes may succeed.
  for (let at = 4; writes.length === 0; at += 1)
    await revoked.write(handle, Buffer.from('x'), at).catch((error: Error) => void writes.push(error.message))
  await revoked.gone
  expect('a write after its token was revoked', true, writes[0]!)
  return tried
}

type Client = Awaited<ReturnType<typeof connectSftp>>
type ExpectRefused = (what: string, attempt: () => Promise<unknown>) => Promise<void>

async function tryPaths(thief: Client, expectRefused: ExpectRefused): Promise<void> {
  for (const [name, path] of [
    ['NUL', 'a\0b'],
    ['a line break', 'a\nb'],
    ['5,000 bytes', 'x'.repeat(5000)],
    ['a segment of 2,000 bytes', `${'x'.repeat(2000)}/a`],
    ['the root', '/'],
    ['dots alone', '../..'],
  ] as const)
    await expectRefused(`writing to a path with ${name}`, () => thief.open(path, 'w'))
}

async function tryLinks(thief: Client, expectRefused: ExpectRefused): Promise<void> {
  const called = (call: (done: (error: Error | null | undefined) => void) => void) =>
    new Promise<void>((resolve, reject) => call((error) => (error ? reject(error) : resolve())))
  const { sftp } = thief
  await expectRefused('a symbolic link', () =>
    called((done) => sftp.symlink('/etc/passwd', 'link', done as () => void)),
  )
  await expectRefused('reading a link', () => called((done) => sftp.readlink('own.bin', done as () => void)))
  await expectRefused('a hard link', () =>
    called((done) => sftp.ext_openssh_hardlink('own.bin', 'again', done as () => void)),
  )
  await expectRefused('changing a key by renaming', () => thief.rename('own.bin', 'elsewhere.bin'))
  const shell = new Promise((resolve, reject) =>
    thief.client.exec('id', (error, stream) => (error ? reject(error) : resolve(stream))),
  )
  await expectRefused('a command', () => shell)
  const forwarded = new Promise((resolve, reject) =>
    thief.client.forwardOut('127.0.0.1', 1, '127.0.0.1', 5432, (error, stream) =>
      error ? reject(error) : resolve(stream),
    ),
  )
  await expectRefused('a tunnel to the database', () => forwarded)
}

/** Sends SFTP packets with a wrong length. */
async function tryPackets(
  site: Site,
  target: Target,
  expect: (what: string, well: boolean, how: string) => void,
): Promise<void> {
  for (const bytes of [0x7fffffff, 0xffffffff, 0]) {
    const client = await connectSftp(target, await site.token({ subject: 'thief' }))
    const channel = client.sftp as unknown as {
      _protocol: { channelData(id: number, data: Buffer): void }
      outgoing: { id: number }
    }
    const packet = Buffer.alloc(9)
    packet.writeUInt32BE(bytes)
    packet[4] = 6
    channel._protocol.channelData(channel.outgoing.id, packet)
    await client.gone
    expect(`a packet that claims to have ${bytes} bytes`, true, 'the connection was closed')
  }
}

async function tokenOf(site: Site): Promise<{ token: string; id: string }> {
  const token = await site.token({ subject: 'revoked' })
  const { data } = await listTokens(site.runtime, site.actor, { limit: 1, cursor: undefined })
  return { token, id: data[0]!.id }
}
