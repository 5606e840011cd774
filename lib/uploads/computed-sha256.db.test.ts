import { createHash, randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { resealSecrets } from '#server/reseal-secrets.ts'
import { openTestDatabase } from '../../test/support/databases.ts'
import { httpCall } from '../../test/support/http-call.ts'
import { codeOf, fileIdOf, metadata, openPatch, type TusClient } from '../../test/support/tus-client.ts'
import { createSite, type Site, serveUploads } from '../../test/support/upload-site.ts'
import { addOutput } from '../../test/support/webhook-rows.ts'
import { showFile } from '../dashboard/files/show-file.ts'
import { fileEventSchema } from '../events/event-schemas.ts'
import { type DatabaseHandle, rows } from '../platform/db/database.ts'
import { createVault } from '../platform/vault.ts'
import { reconcileUploads } from '../recovery/reconcile.ts'

const MiB = 1024 * 1024
const sha256 = (file: Buffer) => createHash('sha256').update(file).digest()
const hex = (file: Buffer) => sha256(file).toString('hex')
const declaring = (file: Buffer) => ({ 'Repr-Digest': `sha-256=:${sha256(file).toString('base64')}:` })
const DRAFT = { 'Upload-Draft-Interop-Version': '8' }

describe('the SHA-256 of a file on a Pipe that computes it', () => {
  let database: DatabaseHandle
  let site: Site
  let nodes: Awaited<ReturnType<typeof serveUploads>>[]
  let client: TusClient
  beforeAll(async () => {
    database = await openTestDatabase()
    site = await createSite(database, { pipe: { computeSha256: true } })
    nodes = [await serveUploads(site.runtime), await serveUploads(site.runtime)]
    client = await site.client(nodes[0]!)
    await addOutput(database.db, 'https://receiver.example.com/', {
      workspaceId: site.workspaceId,
      pipeId: site.pipe.id,
    })
  })
  afterAll(async () => {
    for (const node of nodes ?? []) await node.close()
    await site?.close()
    await database?.close()
  })

  const show = (url: string) => showFile(site.runtime, site.actor, fileIdOf(url))
  const elsewhere = (url: string) => url.replace(nodes[0]!.url, nodes[1]!.url)
  const rowOf = async (url: string) =>
    (
      await rows<{ state: string | null; bytes: number; offset: number }>(
        database.db,
        sql`select sha256_state as state, sha256_bytes as bytes, offset_bytes as offset from files where id = ${fileIdOf(url)}::uuid`,
      )
    )[0]!
  async function expectHashed(url: string, file: Buffer) {
    expect(await show(url)).toMatchObject({ status: 'transferred', sha256: hex(file) })
    expect((await rowOf(url)).state).toBeNull()
  }
  const flipped = (file: Buffer, at: number) => {
    const copy = Buffer.from(file)
    copy[at]! ^= 1
    return copy
  }

  it.each([
    ['no bytes', 0, []],
    ['one request', 3000, []],
    ['one part in several requests', 3000, [1, 64, 1000, 2999]],
    ['a request of all but the last byte', 200_000, [199_999]],
    ['a tail of several rows', 6 * MiB, [4.5 * MiB]],
    ['several parts in one request', 18 * MiB, []],
    ['several parts, and requests that end anywhere in them', 20 * MiB, [7 * MiB + 1, 7 * MiB + 2, 13 * MiB]],
  ])('covers %s, on changing nodes', async (_, bytes, cuts) => {
    const file = randomBytes(bytes)
    const url = await client.begin(bytes, declaring(file))
    const ends = bytes === 0 ? [] : [...cuts, bytes]
    for (const [n, end] of ends.entries()) {
      const start = ends[n - 1] ?? 0
      const at = n % 2 === 0 ? url : elsewhere(url)
      expect((await client.patch(at, start, file.subarray(start, end))).status).toBe(204)
    }
    await expectHashed(url, file)
    expect(await show(url)).toMatchObject({ declaredSha256: hex(file) })
  })

  it('covers a file whose request was cut off, and contains nothing of its bytes in the clear', async () => {
    const file = Buffer.alloc(9 * MiB, 'a secret that nobody may read. ')
    const url = await client.begin(file.length)
    const open = openPatch(client, url, { offset: 0, length: file.length })
    await open.write(file.subarray(0, 8.5 * MiB + 17))
    open.cut()
    const offset = await client.offset(elsewhere(url))
    const row = await rowOf(url)
    expect(row).toMatchObject({ bytes: offset, offset })
    expect(Buffer.from(row.state!, 'base64').includes('secret')).toBe(false)
    expect(row.state).not.toContain(Buffer.from('secret').toString('base64').slice(0, 6))
    expect((await client.patch(elsewhere(url), offset, file.subarray(offset))).status).toBe(204)
    await expectHashed(url, file)
  })

  it('continues after ENCRYPTION_KEY was replaced', async () => {
    const file = randomBytes(2000)
    const url = await client.begin(file.length)
    await client.patch(url, 0, file.subarray(0, 999))
    const newKey = Buffer.alloc(32, 9)
    const both = createVault([newKey, ...site.runtime.config.encryptionKeys])
    await resealSecrets(database.db, both)
    const other = await serveUploads({ ...site.runtime, vault: createVault([newKey]) })
    const moved = url.replace(nodes[0]!.url, other.url)
    expect((await client.patch(moved, 999, file.subarray(999))).status).toBe(204)
    await expectHashed(url, file)
    await other.close()
    await resealSecrets(database.db, createVault([...site.runtime.config.encryptionKeys, newKey]))
  })

  it('covers requests with a checksum, of which none or all is kept', async () => {
    const file = randomBytes(7 * MiB)
    const url = await client.begin(file.length)
    const piece = file.subarray(0, 6 * MiB)
    const sum = (bytes: Buffer) => ({ 'Upload-Checksum': `sha256 ${sha256(bytes).toString('base64')}` })
    expect((await client.patch(url, 0, flipped(piece, 9), sum(piece))).status).toBe(460)
    expect((await client.patch(url, 0, piece, sum(piece))).status).toBe(204)
    const rest = file.subarray(piece.length)
    expect((await client.patch(url, piece.length, rest, sum(rest))).status).toBe(204)
    await expectHashed(url, file)
  })

  it('is compared with the declared one, whichever request declares it', async () => {
    const file = randomBytes(6 * MiB)
    const half = 5.5 * MiB
    for (const at of ['creation', 'first', 'last']) {
      const declared = (when: string) => (when === at ? declaring(file) : {})
      const send = async (sent: Buffer) => {
        const url = await client.begin(file.length, declared('creation'))
        await client.patch(url, 0, sent.subarray(0, half), declared('first'))
        const reply = await client.patch(elsewhere(url), half, sent.subarray(half), declared('last'))
        return { url, reply }
      }
      const good = await send(file)
      expect(good.reply.status).toBe(204)
      expect(await show(good.url)).toMatchObject({ sha256: hex(file), declaredSha256: hex(file) })
      const bad = await send(flipped(file, 7))
      expect(codeOf(bad.reply)).toEqual([460, 'checksum_mismatch'])
      expect(JSON.parse(bad.reply.body).detail).toContain(hex(file))
      expect(await show(bad.url)).toMatchObject({
        status: 'failed',
        failureReason: 'checksum_mismatch',
        sha256: null,
      })
      expect((await site.bucket.objects()).some((key) => key.startsWith(fileIdOf(bad.url)))).toBe(false)
    }
    const url = await client.begin(100, declaring(file))
    expect(codeOf(await client.patch(url, 0, file.subarray(0, 100), declaring(flipped(file, 0))))).toEqual([
      400,
      'invalid_header',
    ])
    const odd = await client.create(100, { 'Repr-Digest': 'sha-256=:AAAA:' })
    expect(codeOf(odd)).toEqual([400, 'invalid_header'])
    expect(JSON.parse(odd.body).detail).toContain('must be 32 bytes')
  })

  it('covers Resumable Uploads for HTTP, complete or not, and plain requests', async () => {
    const file = randomBytes(9000)
    const call = (method: string, url: string, body: Buffer, headers: Record<string, string>) =>
      httpCall({ method, url, token: client.token, body, headers })
    const begun = await call('POST', client.collection, file.subarray(0, 4000), {
      ...DRAFT,
      'Upload-Complete': '?0',
      ...declaring(file),
    })
    const url = begun.headers.location!
    const more = { ...DRAFT, 'Content-Type': 'application/partial-upload' }
    // All bytes have arrived, but the client has not said so.
    for (const [at, end] of [
      [4000, 6000],
      [6000, 9000],
    ])
      await call('PATCH', url, file.subarray(at, end), {
        ...more,
        'Upload-Offset': String(at),
        'Upload-Complete': '?0',
      })
    await call('PATCH', url, Buffer.alloc(0), { ...more, 'Upload-Offset': '9000', 'Upload-Complete': '?1' })
    await expectHashed(url, file)
    for (const headers of [{}, { ...DRAFT, 'Upload-Complete': '?1' }]) {
      const put = (body: Buffer) =>
        call('PUT', `${client.collection}a`, body, { ...headers, ...declaring(file) })
      await expectHashed((await put(file)).headers.location!, file)
      expect(codeOf(await put(flipped(file, 3)))).toEqual([400, 'checksum_mismatch'])
    }
  })

  it('covers a declared length of which all bytes arrived before the client said that they are all', async () => {
    const file = randomBytes(800)
    const begun = await httpCall({
      method: 'POST',
      url: client.collection,
      token: client.token,
      body: file,
      headers: { ...DRAFT, 'Upload-Complete': '?0', 'Upload-Length': '800' },
    })
    const last = {
      'Upload-Offset': '800',
      'Upload-Complete': '?1',
      'Content-Type': 'application/partial-upload',
    }
    const url = begun.headers.location!
    await httpCall({
      method: 'PATCH',
      url,
      token: client.token,
      body: Buffer.alloc(0),
      headers: { ...DRAFT, ...last },
    })
    await expectHashed(url, file)
  })

  it('is compared after a crash if the length was declared after the bytes', async () => {
    const file = randomBytes(3000)
    for (const [sent, ended] of [
      [file, { status: 'transferred', sha256: hex(file) }],
      [flipped(file, 5), { status: 'failed', failureReason: 'checksum_mismatch' }],
    ] as const) {
      const url = await client.begin(null, declaring(file))
      await client.patch(url, 0, sent)
      await database.db.execute(sql`update files set length_bytes = 3000 where id = ${fileIdOf(url)}::uuid`)
      await reconcileUploads(nodes[0]!.context)
      expect(await show(url)).toMatchObject(ended)
    }
  })

  it('is in the event', async () => {
    const file = randomBytes(1000)
    const url = await client.begin(1000, {}, file)
    const [event] = await rows<{ payload: string }>(
      database.db,
      sql`select payload from events where file_id = ${fileIdOf(url)}::uuid`,
    )
    expect(fileEventSchema.parse(JSON.parse(event!.payload)).data.sha256).toBe(hex(file))
  })

  it('is unknown, not wrong, if a node of the previous version has written some of the bytes', async () => {
    const file = randomBytes(3000)
    const url = await client.begin(3000)
    await client.patch(url, 0, file.subarray(0, 1000))
    // It moved the offset, but not the hash.
    await database.db.execute(sql`update files set sha256_bytes = 400 where id = ${fileIdOf(url)}::uuid`)
    expect((await client.patch(url, 1000, file.subarray(1000))).status).toBe(204)
    expect(await show(url)).toMatchObject({ status: 'transferred', sha256: null })
  })

  it('needs the bytes in order: there are no lanes and no pieces to join', async () => {
    const lanes = await client.create(40 * MiB, { 'Upload-Lanes': '4' })
    expect([lanes.status, lanes.body]).toEqual([201, ''])
    const piece = await client.create(1000, { 'Upload-Concat': 'partial' })
    expect(codeOf(piece)).toEqual([400, 'invalid_header'])
    expect(JSON.parse(piece.body).detail).toContain('the Pipe computes the SHA-256 of entire files')
  })

  it('is not computed on other Pipes, where a declared one is ignored', async () => {
    const other = await createSite(database)
    const file = randomBytes(6 * MiB)
    const at = await other.client(nodes[0]!)
    const url = await at.begin(file.length, {
      ...declaring(flipped(file, 0)),
      'Upload-Metadata': metadata({ filename: 'a' }),
    })
    expect((await at.patch(url, 0, file, declaring(flipped(file, 1)))).status).toBe(204)
    expect(await showFile(other.runtime, other.actor, fileIdOf(url))).toMatchObject({
      status: 'transferred',
      sha256: null,
      declaredSha256: null,
    })
    await other.close()
  })
})
