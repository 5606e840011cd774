import { randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { openTestDatabase } from '../../test/support/databases.ts'
import { openDecider } from '../../test/support/decider.ts'
import { connectSftp, openSftpSite, type SftpSite } from '../../test/support/sftp-site.ts'
import { deleteHook, saveHook } from '../hooks/pipe-hooks.ts'
import { type DatabaseHandle, rows } from '../platform/db/database.ts'
import { seconds } from '../platform/kernel/clock.ts'
import { hashSecret } from '../platform/kernel/ids.ts'
import { createSender } from '../workspace/senders/create-sender.ts'
import { issueToken } from '../workspace/tokens/issue-token.ts'
import { tokenInput } from '../workspace/tokens/token.ts'

const MiB = 1024 * 1024

describe('SFTP', () => {
  let database: DatabaseHandle
  let site: SftpSite
  const bytes = randomBytes(12 * MiB + 17)
  beforeAll(async () => {
    database = await openTestDatabase()
    site = await openSftpSite(database, {
      site: { pipe: { source: { sftp: true }, keyTemplate: '{path}/{file_id}/{filename}' } },
    })
  })
  afterAll(async () => {
    await site?.close()
    await database?.close()
  })

  const connect = async (token: Record<string, unknown> = {}) => connectSftp(site, await site.token(token))
  const revoke = (token: string) =>
    database.db.execute(sql`update tokens set revoked_at = now() where token_hash = ${hashSecret(token)}`)
  const openHook = async (hook: 'before_create' | 'before_complete') => {
    const { runtime, actor, pipe } = site
    const decider = await openDecider()
    const ref = { pipeId: pipe.id, hook }
    const settings = { enabled: true, timeoutSeconds: 5, withoutAnswer: 'refuse' } as const
    await saveHook(runtime, actor, ref, { url: decider.url, ...settings })
    const close = async () => {
      await deleteHook(runtime, actor, ref)
      await decider.close()
    }
    return Object.assign(decider, { [Symbol.asyncDispose]: close })
  }
  const expectEqual = async (fileId: string, whole = bytes) => {
    expect((await site.files()).find(({ id }) => id === fileId)).toMatchObject({ status: 'transferred' })
    expect((await site.objectOf(fileId)).equals(whole)).toBe(true)
  }

  it("creates an object when a file is closed, with the file's folder in its key", async () => {
    const client = await connect()
    await client.put('/films/one.mp4', bytes)
    expect(await client.stat('/films/one.mp4')).toMatchObject({ size: bytes.length })
    const [file] = await site.files()
    expect(file).toMatchObject({ filename: 'one.mp4', filetype: 'video/mp4', protocol: 'sftp' })
    await expectEqual(file!.id)
    expect(await site.bucket.objects()).toContain(`films/${file!.id}/one.mp4`)
    const notes = await rows<{ detail: object }>(
      database.db,
      sql`select detail from file_timeline where file_id = ${file!.id}::uuid and kind = 'sftp_opened'`,
    )
    expect(notes).toEqual([{ detail: { address: '127.0.0.1', fingerprint: null } }])
    await client.end()
  })

  it('removes characters that reverse text from the name of a file, which clients still find by the name they wrote', {
    tags: 'long',
  }, async () => {
    const client = await connect()
    await client.put('a\u202egpj.exe', bytes)
    expect(await client.stat('a\u202egpj.exe')).toMatchObject({ size: bytes.length })
    expect((await site.files())[0]).toMatchObject({ filename: 'agpj.exe' })
    await client.end()
  })

  it('creates an object from an empty file', async () => {
    const client = await connect()
    await client.put('empty', Buffer.alloc(0))
    await expectEqual((await site.files())[0]!.id, Buffer.alloc(0))
    await client.end()
  })

  it("reports the decision hook's result when the file is closed", { tags: 'long' }, async () => {
    await using decider = await openHook('before_complete')
    const client = await connect()
    await client.put('allowed', bytes)
    await expectEqual((await site.files())[0]!.id)
    decider.answer = () => ({ allow: false, reason: 'It has a virus.' })
    await expect(client.put('rejected', bytes)).rejects.toThrow('It has a virus.')
    const { id, status } = (await site.files())[0]!
    expect(status).toBe('failed')
    expect((await site.bucket.objects()).filter((key) => key.includes(id))).toEqual([])
    await client.end()
  })

  it('continues from the confirmed offset after an interruption, on another connection', async () => {
    const first = await connect({ subject: 'resumer' })
    await first.writeAll(await first.open('big.bin', 'w'), bytes.subarray(0, 7 * MiB))
    await first.kill()
    const second = await connect({ subject: 'resumer' })
    const { size } = await second.stat('big.bin')
    expect(size).toBe(7 * MiB)
    const handle = await second.open('big.bin', 'r+')
    await second.writeAll(handle, bytes, size)
    await second.close(handle)
    await expectEqual((await site.files())[0]!.id)
    await second.end()
  })

  it('appends the writes of a client whose offsets start at zero', async () => {
    const client = await connect({ subject: 'appender' })
    const first = await client.open('log', 'w')
    await client.write(first, Buffer.from('one '), 0)
    await client.kill()
    const again = await connect({ subject: 'appender' })
    const handle = await again.open('log', 'a')
    await again.write(handle, Buffer.from('two'), 0)
    await again.close(handle)
    await expectEqual((await site.files())[0]!.id, Buffer.from('one two'))
    await again.end()
  })

  it('reorders writes within a window, and refuses writes beyond it', async () => {
    const client = await connect()
    const handle = await client.open('order', 'w')
    await client.write(handle, Buffer.from('world'), 6)
    await client.write(handle, Buffer.from('hello '), 0)
    await client.close(handle)
    await expectEqual((await site.files())[0]!.id, Buffer.from('hello world'))
    const far = await client.open('far', 'w')
    await expect(client.write(far, Buffer.from('x'), 5 * MiB)).rejects.toThrow(/byte 0 is missing/)
    await expect(client.close(far)).rejects.toThrow(/byte 0 is missing/)
    const gap = await client.open('gap', 'w')
    await client.write(gap, Buffer.from('x'), 10)
    await expect(client.close(gap)).rejects.toThrow('The bytes from 0 to 10 were never written.')
    expect((await site.files()).slice(0, 2).map(({ status }) => status)).toEqual(['uploading', 'uploading'])
    await client.end()
  })

  it('gives files with temporary names their final key, and does not rename any other files', {
    tags: 'long',
  }, async () => {
    const client = await connect()
    for (const name of ['a.bin.filepart', 'a.bin.part', 'a.bin.1a2b3c4d.partial']) {
      await client.put(`in/${name}`, Buffer.from(name))
      await client.rename(`in/${name}`, 'in/a.bin')
      const [file] = await site.files()
      expect(file!.filename).toBe('a.bin')
      expect(await site.bucket.objects()).toContain(`in/${file!.id}/a.bin`)
      expect(await client.stat('in/a.bin')).toMatchObject({ size: name.length })
      await expect(client.stat(`in/${name}`)).rejects.toThrow('no such file')
    }
    await expect(client.rename('in/a.bin', 'in/b.bin')).rejects.toThrow(
      'A file gets its key when it is created',
    )
    await expect(client.rename('in/a.bin', 'a.bin')).rejects.toThrow('A file gets its key when it is created')
    await client.end()
  })

  it("creates a folder that another connection's file has brought into existence in the meantime", {
    tags: 'long',
  }, async () => {
    const [one, other] = [await connect({ subject: 'copier' }), await connect({ subject: 'copier' })]
    await one.run('mkdir', 'new')
    await expect(other.stat('new')).rejects.toThrow('no such file')
    await one.put('new/one', Buffer.from('one'))
    await other.run('mkdir', 'new')
    await other.put('new/other', Buffer.from('other'))
    expect((await one.list('new')).map(({ filename }) => filename)).toEqual(['one', 'other'])
    await expect(other.run('mkdir', 'new/one')).rejects.toThrow('already a file')
    for (const client of [one, other]) await client.end()
  })

  it('lists only the files of this Sender and subject, with folders', { tags: 'long' }, async () => {
    const mine = await connect({ subject: 'lister' })
    for (const path of ['one', 'a/two', 'a-b/three', 'a/b/four', 'a0/five'])
      await mine.put(path, Buffer.from(path))
    const half = await mine.open('half', 'w')
    await mine.write(half, Buffer.alloc(1000), 0)
    await mine.run('mkdir', 'empty')
    const names = async (path: string) => (await mine.list(path)).map(({ filename }) => filename)
    expect(await names('/')).toEqual(['a', 'a-b', 'a0', 'empty', 'half', 'one'])
    expect(await names('/a')).toEqual(['b', 'two'])
    expect(await names('a/b')).toEqual(['four'])
    expect((await mine.stat('a')).isDirectory()).toBe(true)
    await expect(names('nowhere')).rejects.toThrow('no such file')
    const other = await connect({ subject: 'somebody else' })
    expect(await other.list('/')).toEqual([])
    await expect(other.stat('one')).rejects.toThrow('no such file')
    await expect(other.open('half', 'r+')).rejects.toThrow('no such file')
    await expect(other.run('unlink', 'half')).rejects.toThrow('no such file')
    const stranger = await createSender(site.runtime, site.actor, { name: 'Another' })
    const input = tokenInput.parse({ pipeId: site.pipe.id, subject: 'lister' })
    const theirs = await connectSftp(site, (await issueToken(site.runtime, stranger.token, input)).token)
    expect(await theirs.list('/')).toEqual([])
    await mine.kill()
    site.clock.advance(seconds(86_401))
    const later = await connect({ subject: 'lister' })
    expect((await later.list('/')).map(({ filename }) => filename)).toEqual(['half'])
    site.clock.advance(seconds(-86_401))
    for (const client of [other, theirs, later]) await client.end()
  })

  it('stays within its directory, follows no links, and does not allow reading', async () => {
    const client = await connect({ subject: 'attacker' })
    await client.put('../../../etc/../passwd', Buffer.from('x'))
    expect((await client.list('/')).map(({ filename }) => filename)).toEqual(['passwd'])
    const [file] = await site.files()
    expect(await site.bucket.objects()).toContain(`${file!.id}/passwd`)
    await expect(client.open('passwd', 'r')).rejects.toThrow('but not read')
    await expect(client.open(`${'a'.repeat(256)}`, 'w')).rejects.toThrow('255 bytes')
    await expect(client.open('a\0b', 'w')).rejects.toThrow('control characters')
    await expect(client.open('passwd', 'r+')).rejects.toThrow('This file is already complete')
    const failing = (call: (done: (error?: Error | null) => void) => void) =>
      new Promise((resolve) => call((error) => resolve(error?.message)))
    expect(await failing((done) => client.sftp.symlink('/etc/passwd', 'link', done))).toMatch(/unsupported/i)
    expect(await failing((done) => client.sftp.readlink('passwd', done))).toMatch(/unsupported/i)
    expect(await failing((done) => client.sftp.setstat('passwd', { size: 5 }, done))).toMatch('cannot be set')
    expect(await failing((done) => client.client.exec('id', done))).toMatch('Unable to exec')
    expect(await failing((done) => client.client.shell(done))).toBeTruthy()
    expect(
      await failing((done) => client.client.forwardOut('127.0.0.1', 1, '127.0.0.1', site.port, done)),
    ).toBeTruthy()
    await client.end()
  })

  it('refuses wrong passwords, other Pipes, Sender tokens, and Pipes whose source is off', async () => {
    for (const wrong of ['wrong', `tmp_${'A'.repeat(43)}`, site.sender.token])
      await expect(connectSftp(site, wrong)).rejects.toThrow('authentication')
    const token = await site.token()
    await expect(connectSftp({ ...site, pipe: { id: `pipe_${'a'.repeat(20)}` } }, token)).rejects.toThrow(
      'authentication',
    )
    await database.db.execute(
      sql`update pipes set source_sftp = false, source_http = true where id = ${site.pipe.id}`,
    )
    await expect(connectSftp(site, await site.token())).rejects.toThrow('authentication')
    await database.db.execute(
      sql`update pipes set source_sftp = true, source_http = false where id = ${site.pipe.id}`,
    )
  })

  it('refuses the next write of a session whose token was revoked, and keeps earlier bytes', async () => {
    const token = await site.token({ subject: 'revoked' })
    const client = await connectSftp(site, token)
    const handle = await client.open('kept', 'w')
    await client.write(handle, Buffer.from('kept'), 0)
    await revoke(token)
    site.clock.advance(seconds(1))
    await expect(client.write(handle, Buffer.from(' lost'), 4)).rejects.toThrow('revoked')
    await client.gone
    const again = await connect({ subject: 'revoked' })
    expect(await again.stat('kept')).toMatchObject({ size: 4 })
    await again.end()
  })

  it('releases the lease of a silent writer for another client, and acquires it again at the next write', async () => {
    const writer = await connect({ subject: 'shared' })
    const handle = await writer.open('shared', 'w')
    await writer.write(handle, Buffer.from('one '), 0)
    const onlooker = await connect({ subject: 'shared' })
    expect(await onlooker.stat('shared')).toMatchObject({ size: 4 })
    await writer.write(handle, Buffer.from('two'), 4)
    await writer.close(handle)
    await expectEqual((await site.files())[0]!.id, Buffer.from('one two'))
    for (const client of [writer, onlooker]) await client.end()
  })

  it('cancels an unfinished file that is removed or replaced', async () => {
    const client = await connect({ subject: 'remover' })
    const first = await client.open('again', 'w')
    await client.write(first, Buffer.from('first'), 0)
    await client.put('again', Buffer.from('second'))
    const [second, canceled] = await site.files()
    expect([second!.status, canceled!.status]).toEqual(['transferred', 'canceled'])
    await expect(client.close(first)).rejects.toThrow()
    await client.run('unlink', 'again')
    expect(await client.list('/')).toEqual([])
    await expectEqual(second!.id, Buffer.from('second'))
    await client.end()
  })

  it('keeps a file listed that became complete while its replacement was being opened', async () => {
    await using decider = await openHook('before_create')
    const client = await connect({ subject: 'replacer' })
    const first = await client.open('raced', 'w')
    await client.write(first, Buffer.from('first'), 0)
    decider.answer = async () => {
      await client.close(first)
      return { allow: true }
    }
    await expect(client.open('raced', 'w')).rejects.toThrow('already transferred')
    expect(await client.stat('raced')).toMatchObject({ size: 5 })
    const listed = sql`select status from files where filename = 'raced' and erased_at is null`
    expect(await rows(database.db, listed)).toEqual([{ status: 'transferred' }])
    await client.end()
  })

  it('stores the bytes that a node has received before it stops', async () => {
    const client = await connect({ subject: 'stopped' })
    const handle = await client.open('stopped', 'w')
    await client.writeAll(handle, bytes.subarray(0, 6 * MiB))
    await site.node.close()
    await client.gone
    await vi.waitFor(async () =>
      expect((await site.files())[0]).toMatchObject({ bytes: 6 * MiB, status: 'uploading' }),
    )
  })
})
