import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { sql } from 'drizzle-orm'
import ssh2, { type SFTPWrapper } from 'ssh2'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { blocked, holdTransaction, openTestDatabase } from '../../test/support/databases.ts'
import { connectSftp, openSftpSite, type SftpSite, serveSftp } from '../../test/support/sftp-site.ts'
import { type DatabaseHandle, rows } from '../platform/db/database.ts'
import { seconds } from '../platform/kernel/clock.ts'

const MiB = 1024 * 1024

describe('an attacker on the SFTP port', () => {
  let database: DatabaseHandle
  let site: SftpSite
  beforeAll(async () => {
    database = await openTestDatabase()
    site = await openSftpSite(database)
  })
  afterAll(async () => {
    await site?.close()
    await database?.close()
  })

  /** A client that only sends the given bytes. Resolves when the server has closed the connection. */
  const open = (port: number, localAddress = '127.0.0.1') => {
    const socket = connect({ port, host: '127.0.0.1', localAddress }).on('error', () => {})
    let received = ''
    socket.on('data', (data) => {
      received += data.toString('latin1')
    })
    return {
      socket,
      closed: new Promise((resolve) => socket.once('close', resolve)),
      received: () => received,
    }
  }
  const isOpen = async ({ socket }: { socket: Socket }) => {
    await vi.waitFor(() => expect(socket.connecting).toBe(false))
    return !socket.destroyed
  }
  const entering = async (port: number, localAddress = '127.0.0.1') => {
    const client = await connectSftp({ ...site, port }, await site.token(), { localAddress })
    await client.put('still here', Buffer.from('x'))
    return client.end()
  }

  /** The number of refusals for this reason in all tests so far. */
  const refused = async (reason: string) => {
    const { values } = await site.runtime.metrics.sftpRefusals.get()
    return values.find(({ labels }) => labels.reason === reason)?.value ?? 0
  }

  it('cannot open more connections than there are places for signing in', async () => {
    const node = await serveSftp(site.runtime, { terms: { signingInPerNetwork: 5 } })
    const flood = Array.from({ length: 50 }, () => open(node.port))
    await Promise.all(flood.map(({ socket }) => once(socket, 'connect')))
    await vi.waitFor(() => expect(flood.filter(({ socket }) => !socket.destroyed)).toHaveLength(5))
    expect(await refused('signing_in_of_network')).toBe(45)
    await expect(entering(node.port)).rejects.toThrow()
    for (const { socket } of flood) socket.destroy()
    await vi.waitFor(() => entering(node.port), { timeout: 20_000 })
    await node.close()
  })

  it('cannot keep out networks that have signed in before, however many networks it comes from', {
    tags: 'long',
  }, async ({ skip }) => {
    if (process.platform !== 'linux') return skip('Only Linux accepts every address in 127.0.0.0/8 as local.')
    const node = await serveSftp(site.runtime, { terms: { signingIn: 5 } })
    await entering(node.port, '127.0.9.9')
    const flood = Array.from({ length: 50 }, (_, n) => open(node.port, `127.1.0.${n}`))
    await vi.waitFor(() => expect(flood.filter(({ socket }) => !socket.destroyed)).toHaveLength(5))
    expect(await refused('signing_in')).toBe(45)
    await entering(node.port, '127.0.9.9')
    await expect(entering(node.port, '127.0.9.8')).rejects.toThrow()
    for (const { socket } of flood) socket.destroy()
    await node.close()
  })

  it('cannot make a node exchange keys at an unlimited rate', { tags: 'long' }, async () => {
    const node = await serveSftp(site.runtime, {
      terms: { exchangesPerNetwork: { burst: 3, refillMs: 60_000 } },
    })
    for (let n = 0; n < 2; n++) await entering(node.port)
    await entering(node.port)
    await expect(entering(node.port)).rejects.toThrow()
    expect(await refused('key_exchanges_of_network')).toBe(1)
    site.clock.advance(seconds(60))
    await entering(node.port)
    site.clock.advance(-seconds(60))
    await node.close()
  })

  it('is disconnected unless it signs in within the limits for time, attempts and bytes', async () => {
    const node = await serveSftp(site.runtime, { terms: { signInBytes: 4096, signInAttempts: 2 } })
    const silent = open(node.port)
    await vi.waitFor(() => expect(silent.received()).toContain('SSH-2.0-Sluice'))
    const talker = open(node.port)
    talker.socket.write('SSH-2.0-flood\r\n')
    for (let n = 0; n < 100; n++) talker.socket.write(Buffer.alloc(1024, 1))
    await talker.closed
    const guesser = new ssh2.Client()
    let asked = 0
    const ended = new Promise<void>((resolve) => guesser.on('error', () => {}).on('close', () => resolve()))
    guesser.connect({
      host: '127.0.0.1',
      port: node.port,
      username: site.pipe.id,
      authHandler: (_left, _partial, next) => {
        asked += 1
        next({ type: 'password', username: site.pipe.id, password: `tmp_${String(asked).padStart(43, '0')}` })
      },
    })
    await ended
    expect(asked).toBe(3)
    expect(await isOpen(silent)).toBe(true)
    site.clock.advance(seconds(31))
    await silent.closed
    for (const reason of ['sign_in_bytes', 'sign_in_attempts', 'sign_in_late'])
      expect(await refused(reason), reason).toBe(1)
    expect(await refused('password')).toBe(2)
    site.clock.advance(-seconds(31))
    await node.close()
  })

  it('cannot lock out others at its address or on its Pipe, however many of its attempts fail', {
    tags: 'long',
  }, async () => {
    const wrong = `tmp_${'0'.repeat(43)}`
    const node = await serveSftp(site.runtime, {
      terms: { exchangesPerNetwork: { burst: 100, refillMs: 1 } },
    })
    const attempt = () => connectSftp({ ...site, port: node.port }, wrong)
    for (let n = 0; n < 40; n++) await expect(attempt()).rejects.toThrow('authentication')
    await entering(node.port)
    await node.close()
  })

  it('is refused, and the fault is logged, if its token cannot be looked up', async () => {
    await database.db.execute('alter table tokens rename to elsewhere')
    try {
      await expect(connectSftp(site, `tmp_${'0'.repeat(43)}`)).rejects.toThrow('authentication')
    } finally {
      await database.db.execute('alter table elsewhere rename to tokens')
    }
    const WARN = 40
    const logged = site.runtime.logLines.map((line) => JSON.parse(line))
    const faults = logged.filter(({ level, msg }) => level === WARN && msg === 'sftp: a sign-in failed')
    const cause = { message: 'relation "tokens" does not exist' }
    expect(faults).toMatchObject([{ user: site.pipe.id, err: { cause } }])
  })

  it('cannot send packets of unlimited size', async () => {
    const client = await connectSftp(site, await site.token())
    const channel = client.sftp as unknown as {
      _protocol: { channelData(id: number, data: Buffer): void }
      outgoing: { id: number }
    }
    const packet = Buffer.alloc(9)
    packet.writeUInt32BE(0x7fffffff)
    packet[4] = 6
    channel._protocol.channelData(channel.outgoing.id, packet)
    await client.gone
    expect(await refused('malformed')).toBe(1)
    await entering(site.port)
  })

  it('cannot fill memory with unread responses, handles, or out-of-order writes', {
    tags: 'long',
  }, async () => {
    const node = await serveSftp(site.runtime, { terms: { handles: 3, allAheadBytes: MiB } })
    const client = await connectSftp({ ...site, port: node.port }, await site.token())
    const handles = [await client.open('a', 'w'), await client.open('b', 'w'), await client.open('c', 'w')]
    await expect(client.open('d', 'w')).rejects.toThrow('too many files open')
    await client.write(handles[0]!, Buffer.alloc(20_000), 10)
    for (let n = 1; n <= 51; n++) await client.write(handles[1]!, Buffer.alloc(20_000), n * 20_000)
    await expect(client.write(handles[2]!, Buffer.alloc(20_000), 10)).rejects.toThrow('out of order')
    await client.end()

    const deaf = await connectSftp({ ...site, port: node.port }, await site.token())
    const { sftp } = deaf
    const long = Array(5).fill('a'.repeat(200)).join('/')
    // From here on, the client does not open its window any further.
    ;(sftp as unknown as { incoming: { window: number } }).incoming.window = Number.MAX_SAFE_INTEGER
    let isGone = false
    void deaf.gone.then(() => {
      isGone = true
    })
    while (!isGone) {
      for (let n = 0; n < 200; n++) sftp.realpath(long, () => {})
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(await refused('unread_answers')).toBe(1)
    await entering(node.port)
    await node.close()
  })

  it('cannot have more lookups under way than its workspace may, which delays none of its bytes', async () => {
    const lookups = { most: 4, waiting: 100, waitingForEach: 100 }
    const node = await serveSftp(site.runtime, { terms: { lookups } })
    const client = await connectSftp({ ...site, port: node.port }, await site.token())
    const handle = await client.open('written', 'w')
    const release = await holdTransaction(database, (tx) => rows(tx, sql`lock table sftp_entries`))
    const looks = Array.from({ length: 50 }, () => client.stat('unknown').catch(({ code }) => code))
    await client.write(handle, Buffer.alloc(10), 0)
    await blocked(database, 2)
    const waiting = sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    expect(await rows(database.db, waiting)).toHaveLength(2)
    await release()
    expect(new Set(await Promise.all(looks))).toEqual(new Set([2]))
    await client.end()
    await node.close()
  })

  it('cannot open more channels than allowed, even all at once, or any number of sessions without SFTP', async () => {
    const node = await serveSftp(site.runtime, { terms: { unusedSessions: 3 } })
    const { client, end } = await connectSftp({ ...site, port: node.port }, await site.token())
    const results = (open: (done: (error?: Error) => void) => void) =>
      Promise.all(
        Array.from(
          { length: 8 },
          () => new Promise<string>((resolve) => open((error) => resolve(error?.message ?? 'open'))),
        ),
      )
    expect((await results((done) => client.sftp(done))).filter((one) => one === 'open')).toHaveLength(3)
    await end()

    const other = await connectSftp({ ...site, port: node.port }, await site.token())
    const refusals = await results((done) => other.client.exec('ls', done))
    expect(refusals.filter((one) => one === 'Unable to exec')).toHaveLength(3)
    await other.put('goes on', Buffer.from('x'))
    await other.end()
    await node.close()
  })

  it('keeps no place of a file or folder that it opened in a channel that it has since closed', async () => {
    const node = await serveSftp(site.runtime, { terms: { handles: 2 } })
    const { client, open, end } = await connectSftp({ ...site, port: node.port }, await site.token())
    for (const n of [1, 2, 3]) {
      const sftp = await new Promise<SFTPWrapper>((resolve) => client.sftp((_, opened) => resolve(opened)))
      const closed = once(sftp, 'close')
      sftp.open(`${n}`, 'w', () => {})
      sftp.opendir('/', () => {})
      sftp.end()
      await closed
    }
    const isOpen = () =>
      open('still here', 'w').then(
        () => true,
        () => false,
      )
    await expect.poll(isOpen).toBe(true)
    await end()
    await node.close()
  })

  it('is disconnected after a long idle time', async () => {
    const client = await connectSftp(site, await site.token())
    site.clock.advance(seconds(601))
    await client.gone
    site.clock.advance(-seconds(601))
  })
})
