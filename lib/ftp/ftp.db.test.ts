import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createConnection, createServer } from 'node:net'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { openTestDatabase } from '../../test/support/databases.ts'
import {
  connectFtp,
  type FtpSite,
  openFtpSite,
  put,
  serveFtp,
  speakFtp,
} from '../../test/support/ftp-site.ts'
import type { DatabaseHandle } from '../platform/db/database.ts'

const MiB = 1024 * 1024

describe('FTP', () => {
  let database: DatabaseHandle
  let site: FtpSite
  beforeAll(async () => {
    database = await openTestDatabase()
    site = await openFtpSite(database, { plain: true })
  })
  afterAll(async () => {
    await site?.close()
    await database?.close()
  })

  const signedIn = async (at = site) => {
    const client = speakFtp(at.port)
    await client.say()
    await client.say(`USER ${at.pipe.id}`)
    expect(await client.say(`PASS ${at.sender.token}`)).toMatch(/^230/)
    return client
  }
  const openData = async (client: Awaited<ReturnType<typeof signedIn>>) => {
    const reply = await client.say('EPSV')
    const socket = createConnection({ port: Number(reply.match(/\|(\d+)\|/)![1]), host: '127.0.0.1' })
    await once(socket, 'connect')
    return socket.on('error', () => {})
  }

  for (const [name, secure] of [
    ['encrypted', true],
    ['unencrypted', false],
  ] as const)
    it(`creates an object from an ${name} upload, with a temporary token`, async () => {
      const client = await connectFtp(site, await site.token(), { secure })
      const bytes = randomBytes(6 * MiB)
      await client.ensureDir('2026/november')
      await put(client, 'IMG_0001.JPG', bytes)
      const [file] = await site.files()
      expect(file).toMatchObject({
        status: 'transferred',
        filename: 'IMG_0001.JPG',
        protocol: secure ? 'ftps' : 'ftp',
        bytes: bytes.length,
      })
      expect((await site.objectOf(file!.id)).equals(bytes)).toBe(true)
      expect(await client.size('/2026/november/IMG_0001.JPG')).toBe(bytes.length)
      expect((await client.list('/2026/november')).map((entry) => [entry.name, entry.size])).toEqual([
        ['IMG_0001.JPG', bytes.length],
      ])
      client.close()
    })

  it('creates another object when a device sends the same name again', async () => {
    const client = await connectFtp(site, site.sender.token)
    for (const text of ['first', 'second']) await put(client, 'same.txt', Buffer.from(text))
    const found = (await site.files()).filter(({ filename }) => filename === 'same.txt')
    const objects = await Promise.all(found.map(({ id }) => site.objectOf(id)))
    expect(objects.map(String)).toEqual(['second', 'first'])
    client.close()
  })

  it('keeps what a killed client has sent, and continues there with REST or APPE', async () => {
    const bytes = randomBytes(7 * MiB)
    for (const verb of ['REST', 'APPE']) {
      const path = `/film-${verb}.bin`
      const client = await signedIn()
      const data = await openData(client)
      expect(await client.say(`STOR ${path}`)).toMatch(/^150/)
      data.write(bytes.subarray(0, 3 * MiB))
      await vi.waitFor(() => expect(data.bytesWritten).toBe(3 * MiB))
      client.socket.destroy()
      data.destroy()
      const again = await connectFtp(site, site.sender.token)
      const size = await vi.waitFor(async () => {
        const found = await again.size(path)
        expect(found).toBeGreaterThan(0)
        return found
      })
      const [cut] = await site.files()
      expect(cut).toMatchObject({ status: 'uploading' })
      if (verb === 'REST') await again.send(`REST ${size}`)
      const rest = Readable.from([bytes.subarray(size)])
      if (verb === 'REST') await again.uploadFrom(rest, path)
      else await again.appendFrom(rest, path)
      expect((await site.objectOf(cut!.id)).equals(bytes)).toBe(true)
      again.close()
    }
  })

  it('refuses to continue anywhere else than where the file ends', async () => {
    const client = await signedIn()
    const data = await openData(client)
    await client.say('STOR /where.bin')
    data.write('12345')
    expect(await client.say('ABOR')).toMatch(/^426/)
    expect(await client.say()).toMatch(/^226/)
    await openData(client)
    await client.say('REST 2')
    expect(await client.say('STOR /where.bin')).toBe('550 The file ends at byte 5. Continue there.')
  })

  it('takes a file as complete if the client says QUIT right after its last byte', async () => {
    const client = await signedIn()
    const data = await openData(client)
    await client.say('STOR /quick.txt')
    client.socket.end('QUIT\r\n')
    data.end('done')
    await vi.waitFor(async () =>
      expect((await site.files())[0]).toMatchObject({ status: 'transferred', filename: 'quick.txt' }),
    )
  })

  it('does not complete the file of a client whose connections end one after the other', async () => {
    const client = await signedIn()
    const data = await openData(client)
    await client.say('STOR /killed.txt')
    data.end('half')
    await once(data, 'close')
    client.socket.destroy()
    const again = await signedIn()
    expect(await again.say('SIZE /killed.txt')).toBe('213 4')
    expect((await site.files())[0]).toMatchObject({ filename: 'killed.txt', status: 'uploading' })
  })

  it('renames from a temporary name, and removes a file', async () => {
    const client = await connectFtp(site, site.sender.token)
    await put(client, 'scan.pdf.part', Buffer.from('pages'))
    await client.rename('scan.pdf.part', 'scan.pdf')
    expect((await site.files())[0]).toMatchObject({ filename: 'scan.pdf', status: 'transferred' })
    await client.remove('scan.pdf')
    await expect(client.size('scan.pdf')).rejects.toThrow('550')
    client.close()
  })

  it('refuses downloads and active mode with a sentence', async () => {
    const client = await signedIn()
    expect(await client.say('RETR /same.txt')).toBe('553 Files can be written, but not read.')
    expect(await client.say('PORT 127,0,0,1,0,22')).toBe(
      '502 Active mode is not supported. Use passive mode.',
    )
    expect(await client.say('EPRT |1|127.0.0.1|22|')).toMatch(/^502/)
  })

  it('connects to clients in active mode if the operator allows it', async () => {
    const active = await openFtpSite(database, { plain: true, active: true })
    const listener = createServer().listen(0, '127.0.0.1')
    await once(listener, 'listening')
    const { port } = listener.address() as { port: number }
    const client = await signedIn(active)
    for (const [command, name] of [
      [`PORT 127,0,0,1,${port >> 8},${port & 255}`, 'four.jpg'],
      [`EPRT |1|127.0.0.1|${port}|`, 'extended.jpg'],
      [`EPRT |2|0:0::0|${port}|`, 'unspecified.jpg'],
    ]) {
      expect(await client.say(command)).toBe('200 OK.')
      const connected = once(listener, 'connection')
      client.socket.write(`STOR /${name}\r\n`)
      const [data] = await connected
      data.end('picture')
      expect(await client.say()).toMatch(/^150/)
      expect(await client.say()).toMatch(/^226/)
      expect((await active.files())[0]).toMatchObject({ filename: name, status: 'transferred' })
    }
    listener.close()
    await active.close()
  })

  it('works over IPv6', async () => {
    const node = await serveFtp(site.runtime, { host: '::1' })
    const client = await connectFtp({ host: '::1', port: node.port, pipe: site.pipe }, site.sender.token)
    await put(client, 'six.txt', Buffer.from('6'))
    expect((await site.files())[0]).toMatchObject({ filename: 'six.txt', status: 'transferred' })
    client.close()
    await node.close()
  })
})
