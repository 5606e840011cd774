import { sql } from 'drizzle-orm'
import ssh2, { type ParsedKey } from 'ssh2'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { openTestDatabase } from '../../test/support/databases.ts'
import { connectSftp, openSftpSite, type SftpSite } from '../../test/support/sftp-site.ts'
import { type DatabaseHandle, rows } from '../platform/db/database.ts'
import { seconds } from '../platform/kernel/clock.ts'
import { parseInput } from '../platform/kernel/parse-input.ts'
import { revokeSender } from '../workspace/senders/change-sender.ts'
import { createSender } from '../workspace/senders/create-sender.ts'
import { makeKeyPair } from './make-key-pair.ts'
import { addSenderKey, listSenderKeys, removeSenderKey, senderKeyInput } from './sender-keys.ts'
import { signInByKey } from './sign-in-by-key.ts'

const KEYS = [
  ['ed25519', makeKeyPair()],
  ['ecdsa', ssh2.utils.generateKeyPairSync('ecdsa', { bits: 256 })],
  ['rsa', ssh2.utils.generateKeyPairSync('rsa', { bits: 2048 })],
] as const

const PATIENCE = { timeout: 10_000 }

describe("a Sender's key", () => {
  let database: DatabaseHandle
  let site: SftpSite
  beforeAll(async () => {
    database = await openTestDatabase()
    site = await openSftpSite(database, { site: { pipe: { source: { sftp: true } } } })
  })
  afterAll(async () => {
    await site?.close()
    await database?.close()
  })

  const add = (
    publicKey: string,
    { senderId = site.sender.id, subject }: { senderId?: string; subject?: string } = {},
  ) => {
    const input = parseInput(senderKeyInput, { name: 'Partner', publicKey, ...(subject && { subject }) })
    return addSenderKey(site.runtime, site.actor, senderId, input)
  }
  const connect = (privateKey: string) => connectSftp(site, undefined, { privateKey })
  const remove = (id: string) => removeSenderKey(site.runtime, site.actor, site.sender.id, id)

  it.each(KEYS)('of type %s can upload, and its files and addresses are recorded', async (_, pair) => {
    const { id, fingerprint } = await add(pair.public)
    const client = await connect(pair.private)
    await client.put('film.mp4', Buffer.from('film'))
    await client.end()
    const [file] = await site.files()
    expect(file).toMatchObject({ status: 'transferred', protocol: 'sftp' })
    expect((await site.objectOf(file!.id)).toString()).toBe('film')
    const notes = await rows<{ detail: object }>(
      database.db,
      sql`select detail from file_timeline where file_id = ${file!.id}::uuid and kind = 'sftp_opened'`,
    )
    expect(notes).toEqual([{ detail: { address: '127.0.0.1', fingerprint } }])
    const listed = (await listSenderKeys(site.runtime, site.actor, site.sender.id)).find(
      (key) => key.id === id,
    )
    expect(listed).toMatchObject({ fingerprint, lastAddress: '127.0.0.1', lastUsedAt: expect.any(String) })
    await (await connect(pair.private)).end()
    const audited = await rows<{ detail: object }>(
      database.db,
      sql`select detail from audit_log where action = 'sender.key_used' and detail->>'fingerprint' = ${fingerprint}`,
    )
    expect(audited).toEqual([{ detail: { address: '127.0.0.1', fingerprint, pipeId: site.pipe.id } }])
    await remove(id)
  })

  it('sees and resumes only uploads of its Sender and subject', async () => {
    const [[, one], [, two]] = KEYS
    const keys = [await add(one.public, { subject: 'one' }), await add(two.public, { subject: 'two' })]
    const begun = await connectSftp(site, await site.token({ subject: 'one' }))
    await begun.write(await begun.open('half', 'w'), Buffer.from('first '), 0)
    await begun.kill()
    const same = await connect(one.private)
    expect(await same.stat('half')).toMatchObject({ size: 6 })
    const handle = await same.open('half', 'r+')
    await same.write(handle, Buffer.from('second'), 6)
    await same.close(handle)
    expect((await site.objectOf((await site.files())[0]!.id)).toString()).toBe('first second')
    const other = await connect(two.private)
    expect(await other.list('/')).toEqual([])
    for (const client of [same, other]) await client.end()
    for (const { id } of keys) await remove(id)
  })

  it('ends open sessions at their next write after it is removed, and keeps earlier bytes', async () => {
    const [[, pair]] = KEYS
    const { id } = await add(pair.public, { subject: 'removed' })
    const client = await connect(pair.private)
    const handle = await client.open('kept', 'w')
    await client.write(handle, Buffer.from('kept'), 0)
    await remove(id)
    site.clock.advance(seconds(1))
    await expect(client.write(handle, Buffer.from(' lost'), 4)).rejects.toThrow('This key was removed')
    await client.gone
    await expect(connect(pair.private)).rejects.toThrow('authentication')
    const again = await connectSftp(site, await site.token({ subject: 'removed' }))
    expect(await again.stat('kept')).toMatchObject({ size: 4 })
    await again.end()
  })

  it('belongs to only one Sender in a workspace, and stops working when that Sender is revoked', async () => {
    const [[, pair]] = KEYS
    const { id: senderId } = await createSender(site.runtime, site.actor, { name: 'Short-lived' })
    const { id } = await add(pair.public, { senderId })
    await expect(add(pair.public)).rejects.toThrow('already has this key')
    await (await connect(pair.private)).end()
    await revokeSender(site.runtime, site.actor, senderId)
    await expect(connect(pair.private)).rejects.toThrow('authentication')
    await expect(add(KEYS[1][1].public, { senderId })).rejects.toThrow('was revoked')
    await removeSenderKey(site.runtime, site.actor, senderId, id)
  })

  it('is refused if it is unknown or the source is off', async () => {
    const [, [, pair]] = KEYS
    await expect(connect(pair.private)).rejects.toThrow('authentication')
    const { id } = await add(pair.public)
    const source = (on: boolean) =>
      database.db.execute(
        sql`update pipes set source_sftp = ${on}, source_http = ${!on} where id = ${site.pipe.id}`,
      )
    await source(false)
    await expect(connect(pair.private)).rejects.toThrow('authentication')
    await source(true)
    await (await connect(pair.private)).end()
    await remove(id)
  })

  type Asked = Parameters<typeof signInByKey>[1]
  const offered = (
    offer: Asked['offer'],
    { demo = true, ...asked }: Partial<Asked> & { demo?: boolean } = {},
  ) =>
    signInByKey(
      { ...site.node.context, config: { demo } },
      { user: site.pipe.id, from: '203.0.113.5', offer, ...asked },
    )
  const signedBy = (own: ParsedKey) => ({
    key: { algo: 'ssh-ed25519', data: own.getPublicSSH() },
    blob,
    signature: own.sign(blob),
  })
  const blob = Buffer.from('the session and the request')

  it('is accepted only with a signature made with it for this session', async () => {
    const [[, one], [, two]] = KEYS
    const { id } = await add(one.public)
    const [own, others] = [parsed(one.private), parsed(two.private)]
    const key = { algo: 'ssh-ed25519', data: own.getPublicSSH() }
    expect(await offered({ key })).toBeUndefined()
    const signature = own.sign(blob)
    expect(await offered({ key, blob, signature })).toMatchObject({ key: { id } })
    const otherBlob = Buffer.from('another session')
    await expect(offered({ key, blob: otherBlob, signature })).rejects.toThrow('does not match this key')
    await expect(offered({ key, blob, signature: others.sign(blob) })).rejects.toThrow(
      'does not match this key',
    )
    await remove(id)
  })

  it('is accepted, however many attempts with other keys or signatures have failed', async () => {
    const [[, one], [, two]] = KEYS
    const { id } = await add(one.public)
    const [good, unknown] = [signedBy(parsed(one.private)), signedBy(parsed(two.private))]
    for (let n = 0; n < 20; n++)
      for (const wrong of [unknown, { ...good, signature: unknown.signature }])
        await expect(offered(wrong)).rejects.toMatchObject({ code: 'token_invalid' })
    expect(await offered(good)).toMatchObject({ key: { id } })
    await remove(id)
  })

  it('is refused by the demo workspace if the demo is off', async () => {
    const [[, pair]] = KEYS
    const { id } = await add(pair.public)
    const good = signedBy(parsed(pair.private))
    const isDemo = (demo: boolean) =>
      database.db.execute(sql`update workspaces set demo = ${demo} where id = ${site.workspaceId}::uuid`)
    await isDemo(true)
    await expect(offered(good, { demo: false })).rejects.toThrow('has this key')
    expect(await offered(good)).toMatchObject({ key: { id } })
    await isDemo(false)
    expect(await offered(good, { demo: false })).toMatchObject({ key: { id } })
    await remove(id)
  })

  it('is audited once for each address, even if sessions alternate between several', async () => {
    const [[, pair]] = KEYS
    const { id, fingerprint } = await add(pair.public)
    const good = signedBy(parsed(pair.private))
    const addresses = ['203.0.113.10', '203.0.113.11', '203.0.113.12']
    for (let n = 0; n < 9; n++) await offered(good, { from: addresses[n % 3]! })
    const audited = await rows<{ address: string }>(
      database.db,
      sql`select detail->>'address' as address from audit_log
        where action = 'sender.key_used' and detail->>'fingerprint' = ${fingerprint} and detail->>'address' like '203.0.113.1_' order by id`,
    )
    expect(audited.map(({ address }) => address)).toEqual(addresses)
    await remove(id)
  })

  it('leaves no token behind when its session ends, but its files stay', async () => {
    const [[, pair]] = KEYS
    const { id } = await add(pair.public, { subject: 'tidy' })
    const tokens = async () => {
      const look = sql`select from tokens where subject = 'tidy'`
      return (await rows(database.db, look)).length
    }
    const one = await connect(pair.private)
    await one.put('whole', Buffer.from('whole'))
    await one.write(await one.open('half', 'w'), Buffer.from('first '), 0)
    expect(await tokens()).toBe(1)
    await one.kill()
    await vi.waitFor(async () => expect(await tokens()).toBe(0), PATIENCE)
    const two = await connect(pair.private)
    const handle = await two.open('half', 'r+')
    await two.write(handle, Buffer.from('second'), 6)
    await two.close(handle)
    await two.end()
    await vi.waitFor(async () => expect(await tokens()).toBe(0), PATIENCE)
    const [half, whole] = await site.files()
    expect((await site.objectOf(half!.id)).toString()).toBe('first second')
    expect((await site.objectOf(whole!.id)).toString()).toBe('whole')
    await remove(id)
  })

  it('of type RSA is refused with a SHA-1 signature, whatever algorithm the client names', async () => {
    const [, , [, pair]] = KEYS
    const { id } = await add(pair.public)
    const own = parsed(pair.private)
    const data = own.getPublicSSH()
    const hashAlgo = 'sha512'
    const good = { key: { algo: 'ssh-rsa', data }, blob, signature: own.sign(blob, hashAlgo), hashAlgo }
    expect(await offered(good)).toMatchObject({ key: { id } })
    for (const algo of ['ssh-rsa', 'ssh-ed25519'])
      await expect(
        offered({ key: { algo, data }, blob, signature: own.sign(blob, 'sha1') }),
        algo,
      ).rejects.toThrow('has this key')
    await remove(id)
  })
})

function parsed(text: string): ParsedKey {
  const key = ssh2.utils.parseKey(text)
  if (key instanceof Error) throw key
  return key
}
