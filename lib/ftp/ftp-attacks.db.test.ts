/** @module-tag long */
import { once } from 'node:events'
import { createConnection, type Socket } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { openTestDatabase } from '../../test/support/databases.ts'
import {
  connectFtp,
  type FtpSite,
  openFtpSite,
  put,
  serveFtp,
  speakFtp,
  speakOver,
} from '../../test/support/ftp-site.ts'
import type { DatabaseHandle } from '../platform/db/database.ts'
import { seconds } from '../platform/kernel/clock.ts'
import { revokeSender } from '../workspace/senders/change-sender.ts'
import { createSender } from '../workspace/senders/create-sender.ts'

type Client = ReturnType<typeof speakFtp>

describe('an attacker on the FTP port', () => {
  let database: DatabaseHandle
  let site: FtpSite
  let plain: FtpSite
  beforeAll(async () => {
    database = await openTestDatabase()
    site = await openFtpSite(database)
    plain = await openFtpSite(database, { plain: true })
  })
  afterAll(async () => {
    await site?.close()
    await plain?.close()
    await database?.close()
  })

  const refused = async (reason: string, at = site) => {
    const { values } = await at.runtime.metrics.ftpRefusals.get()
    return values.find(({ labels }) => labels.reason === reason)?.value ?? 0
  }
  const signIn = async (client: Client, user: string, password: string) => {
    await client.say(`USER ${user}`)
    return client.say(`PASS ${password}`)
  }
  const encrypted = async (): Promise<Client & { tls: TLSSocket }> => {
    const client = speakFtp(site.port)
    await client.say()
    expect(await client.say('AUTH TLS')).toMatch(/^234/)
    client.socket.removeAllListeners('data')
    const tls = connectTls({ socket: client.socket, rejectUnauthorized: false })
    await once(tls, 'session')
    return { ...speakOver(tls), tls }
  }
  const openData = async (client: Client, localAddress = '127.0.0.1'): Promise<Socket> => {
    const port = Number((await client.say('EPSV')).match(/\|(\d+)\|/)![1])
    const socket = createConnection({ port, host: '127.0.0.1', localAddress }).on('error', () => {})
    await once(socket, 'connect')
    return socket
  }

  it('cannot have the server connect to another host, or to a system port', async () => {
    const active = await openFtpSite(database, { plain: true, active: true })
    const client = speakFtp(active.port)
    await client.say()
    await signIn(client, active.pipe.id, active.sender.token)
    const attempts = [
      ...['PORT 169,254,169,254,31,144', 'PORT 127,0,0,2,31,144', 'PORT 127,0,0,1,0,22'],
      ...['EPRT |2|::1|8080|', 'EPRT |2|::ffff:127.0.0.1|8080|', 'EPRT |1|127.0.0.1|70000|'],
    ]
    for (const attempt of attempts) {
      expect(await client.say(attempt)).toMatch(/^504/)
      expect(await client.say('LIST')).toBe('550 Send EPSV or PASV first.')
    }
    expect(await client.say('PORT localhost')).toMatch(/^501/)
    expect(await refused('data_elsewhere', active)).toBe(attempts.length)
    await active.close()
  })

  it('gets no password over an unencrypted connection, unless the server and the Pipe allow it', async () => {
    const client = speakFtp(site.port)
    await client.say()
    expect(await client.say(`USER ${site.pipe.id}`)).toMatch(/^530 This server requires encryption/)
    expect(await client.say(`PASS ${site.sender.token}`)).toMatch(/^503/)
  })

  it('learns nothing about Pipes: every refused sign-in looks the same', async () => {
    const elsewhere = await openFtpSite(database)
    const stranger = await createSender(site.runtime, elsewhere.actor, { name: 'Elsewhere' })
    const client = speakFtp(plain.port)
    await client.say()
    const replies = [
      await signIn(client, 'pipe_aaaaaaaaaaaaaaaaaaaa', stranger.token),
      await signIn(client, plain.pipe.id, stranger.token),
      // This Pipe only accepts encrypted connections.
      await signIn(client, site.pipe.id, site.sender.token),
      await signIn(client, plain.pipe.id, 'guess'),
    ]
    expect(new Set(replies)).toEqual(new Set([replies[0]]))
    expect(replies[0]).toMatch(/^530 The sign-in failed/)
    for (let n = 0; n < 2; n++) await signIn(client, plain.pipe.id, 'guess')
    expect(await signIn(client, plain.pipe.id, plain.sender.token)).toBe('421 Too many attempts.')
    await client.closed
    await elsewhere.close()
  })

  it('cannot add commands in front of the encryption', async () => {
    const client = speakFtp(site.port)
    await client.say()
    client.socket.write('AUTH TLS\r\nNOOP\r\n')
    await client.closed
    expect(await refused('bytes_before_tls')).toBe(1)
  })

  it('cannot send commands of unlimited length or number', async () => {
    for (const flood of ['X'.repeat(100_000), 'NOOP\r\n'.repeat(1000)]) {
      const client = speakFtp(site.port)
      client.socket.write(flood)
      await client.closed
    }
    expect(await refused('malformed')).toBe(2)
  })

  it('is disconnected if it does not sign in, or says nothing afterwards', async () => {
    const [silent, idle] = [speakFtp(plain.port), speakFtp(plain.port)]
    await silent.say()
    await idle.say()
    await signIn(idle, plain.pipe.id, plain.sender.token)
    plain.clock.advance(seconds(31))
    await silent.closed
    expect(await idle.say('NOOP')).toMatch(/^200/)
    plain.clock.advance(seconds(601))
    expect(await idle.say()).toMatch(/^421/)
    await idle.closed
    plain.clock.advance(-seconds(632))
  })

  it("cannot open more connections than there are places for signing in, nor keep others' out", async () => {
    const node = await serveFtp(plain.runtime, { terms: { signingIn: 5 } })
    const partner = { port: node.port, pipe: plain.pipe }
    ;(await connectFtp(partner, plain.sender.token)).close()
    const flood = Array.from({ length: 20 }, () => speakFtp(node.port, '127.0.9.9'))
    await vi.waitFor(() => expect(flood.filter(({ socket }) => socket.destroyed)).toHaveLength(15))
    ;(await connectFtp(partner, plain.sender.token)).close()
    for (const { socket } of flood) socket.destroy()
    await node.close()
  })

  it('cannot take the data connection of another address', async () => {
    const client = speakFtp(plain.port)
    await client.say()
    await signIn(client, plain.pipe.id, plain.sender.token)
    const thief = await openData(client, '127.0.0.2')
    await once(thief, 'close')
    expect(await refused('data_of_stranger', plain)).toBe(1)
    const data = await openData(client)
    expect(await client.say('STOR /mine.txt')).toMatch(/^150/)
    data.end('mine')
    expect(await client.say()).toMatch(/^226/)
  })

  it('cannot use a data connection without the TLS session of the control connection', async () => {
    const [client, other] = [await encrypted(), await encrypted()]
    await signIn(client, site.pipe.id, site.sender.token)
    expect(await client.say('STOR /secret.txt')).toBe(
      '553 This Pipe requires encrypted data connections. Send PROT P first.',
    )
    await client.say('PROT P')
    const store = async (session: Buffer | undefined) => {
      const socket = await openData(client)
      expect(await client.say('STOR /secret.txt')).toMatch(/^150/)
      const data = connectTls({ socket, rejectUnauthorized: false, ...(session && { session }) })
      data.on('error', () => {}).end('secret')
      return client.say()
    }
    expect(await store(undefined)).toMatch(/^553 The data connection did not resume the TLS session/)
    expect(await store(other.tls.getSession())).toMatch(/^553/)
    expect(await store(client.tls.getSession())).toMatch(/^226/)
    expect(await refused('data_session')).toBe(2)
  })

  it('cannot leave its directory, or see the files of others', async () => {
    const client = await connectFtp(plain, plain.sender.token)
    await put(client, '/../../etc/passwd', Buffer.from('x'))
    expect((await client.list('/etc')).map(({ name }) => name)).toEqual(['passwd'])
    const other = await createSender(plain.runtime, plain.actor, { name: 'Other' })
    const stranger = await connectFtp(plain, other.token)
    expect(await stranger.list('/')).toEqual([])
    await expect(stranger.size('/etc/passwd')).rejects.toThrow('550')
    await expect(stranger.remove('/etc/passwd')).rejects.toThrow('550')
    client.close()
    stranger.close()
  })

  it('cannot write another byte once its Sender has been revoked', async () => {
    const device = await createSender(plain.runtime, plain.actor, { name: 'Stolen' })
    const client = speakFtp(plain.port)
    await client.say()
    await signIn(client, plain.pipe.id, device.token)
    const data = await openData(client)
    await client.say('STOR /stolen.bin')
    data.write('before')
    await vi.waitFor(async () => expect((await plain.files())[0]).toMatchObject({ filename: 'stolen.bin' }))
    await revokeSender(plain.runtime, plain.actor, device.id)
    plain.clock.advance(seconds(2))
    data.write('after')
    expect(await client.say()).toMatch(/^(426|421|530)/)
    await client.closed
    expect((await plain.files())[0]).toMatchObject({ filename: 'stolen.bin', status: 'uploading' })
  })
})
