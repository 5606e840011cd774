import { createHash } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestDatabase } from '../../test/support/databases.ts'
import { httpCall, openCall } from '../../test/support/http-call.ts'
import { LIARS, type SampleName, sampleOf, TRUE_FILES } from '../../test/support/sample-files.ts'
import { fileIdOf, metadata, type TusClient } from '../../test/support/tus-client.ts'
import { createSite, type Site, serveUploads } from '../../test/support/upload-site.ts'
import { type DatabaseHandle, rows } from '../platform/db/database.ts'
import { reconcileUploads } from '../recovery/reconcile.ts'

const MiB = 1024 * 1024
const REFUSED_EACH_WAY = 2
const named = (filetype: string) => ({ 'Upload-Metadata': metadata({ filename: 'a', filetype }) })
const DRAFT = { 'Upload-Draft-Interop-Version': '8' }
type Ended = { status: number; code: string | undefined; id: string | undefined }

describe('a Pipe that verifies the content', () => {
  let database: DatabaseHandle
  let site: Site
  let node: Awaited<ReturnType<typeof serveUploads>>
  let client: TusClient
  beforeAll(async () => {
    database = await openTestDatabase()
    site = await createSite(database, { pipe: { verifyContent: true } })
    node = await serveUploads(site.runtime)
    client = await site.client(node)
  })
  afterAll(async () => {
    await node?.close()
    await site?.close()
    await database?.close()
  })

  /** A new token, because each allows only a few refusals. */
  const renew = async () => {
    client = await site.client(node)
  }

  /** A file of a given length that starts like the sample, and continues with text if the sample is text. */
  function fileOf(sample: SampleName, bytes: number): Buffer {
    const head = sampleOf(sample)
    const file = Buffer.alloc(Math.max(bytes, head.length), head.includes(0) ? 0 : 'a')
    head.copy(file)
    return file
  }
  const ended = ({ status, body, headers }: Awaited<ReturnType<typeof httpCall>>): Ended => ({
    status,
    code: status < 400 ? undefined : JSON.parse(body).code,
    id: headers.location && fileIdOf(headers.location),
  })

  /** Cuts a file into a piece of this length, and then into pieces that each are as long as all before. */
  function* cut(file: Buffer, firstBytes: number): Generator<[at: number, piece: Buffer, isLast: boolean]> {
    let [at, end] = [0, firstBytes]
    do {
      yield [at, file.subarray(at, end), end >= file.length]
      ;[at, end] = [end, 2 * end]
    } while (at < file.length)
  }

  async function byTus(file: Buffer, type: string, firstBytes: number, by = client): Promise<Ended> {
    const created = await by.create(file.length, named(type))
    if (file.length === 0) return ended(created)
    const url = created.headers.location!
    for (const [at, piece, isLast] of cut(file, firstBytes)) {
      const reply = await by.patch(url, at, piece)
      if (reply.status >= 400 || isLast) return { ...ended(reply), id: fileIdOf(url) }
    }
    throw new Error('unreachable')
  }

  async function byDraft(file: Buffer, type: string, firstBytes: number, by = client): Promise<Ended> {
    const created = { 'Content-Type': type, 'Upload-Length': String(file.length) }
    let url: string | undefined
    for (const [at, body, isLast] of cut(file, firstBytes)) {
      const further = { 'Content-Type': 'application/partial-upload', 'Upload-Offset': String(at) }
      const reply = await httpCall({
        method: url ? 'PATCH' : 'POST',
        url: url ?? by.collection,
        token: by.token,
        body,
        headers: { ...DRAFT, 'Upload-Complete': isLast ? '?1' : '?0', ...(url ? further : created) },
      })
      url ??= reply.headers.location
      if (reply.status >= 400 || isLast) return { ...ended(reply), id: url && fileIdOf(url) }
    }
    throw new Error('unreachable')
  }

  /** Sends a file in one request, in as many writes as pieces. */
  async function byPut(file: Buffer, type: string, firstBytes = 8 * MiB, by = client): Promise<Ended> {
    const call = openCall({
      method: 'PUT',
      url: `${by.collection}a`,
      token: by.token,
      headers: { 'Content-Type': type, 'Content-Length': String(file.length) },
    })
    for (const [, piece] of cut(file, firstBytes)) await call.write(piece)
    call.end()
    return ended(await call.reply)
  }

  async function eightAtOnce<One>(all: readonly One[], act: (one: One) => Promise<void>): Promise<void> {
    const waiting = all.values()
    const work = async () => {
      for (const one of waiting) await act(one)
    }
    await Promise.all(Array.from({ length: 8 }, work))
  }

  const usedBytes = async () =>
    (
      await rows<{ used: number; days: number; reserved: number }>(
        database.db,
        sql`select coalesce(sum(used_bytes), 0)::bigint as used, coalesce(sum(reserved_bytes), 0)::bigint as reserved,
          (select coalesce(sum(bytes), 0)::bigint from usage_days) as days from usage_months`,
      )
    )[0]!
  const fileRow = async (id: string) =>
    (
      await rows<{ status: string; failure_reason: string | null; found_type: string | null }>(
        database.db,
        sql`select status, failure_reason, found_type from files where id = ${id}::uuid`,
      )
    )[0]!
  const lastFile = async () =>
    (await rows<{ id: string }>(database.db, sql`select id from files order by id desc limit 1`))[0]!.id

  const WAYS: [name: string, send: (file: Buffer, type: string) => Promise<Ended>][] = [
    ['TUS in one request', (file, type) => byTus(file, type, 8 * MiB)],
    ['Resumable Uploads in one request', (file, type) => byDraft(file, type, 8 * MiB)],
    ['one plain request', byPut],
  ]

  it.each(WAYS)(
    'refuses every falsely declared file sent by %s, before anything is sent or counted',
    async (_, send) => {
      const before = await usedBytes()
      const sent = site.bucket.traffic.seen().length
      for (const [declared, sample, found] of LIARS) {
        await renew()
        const file = fileOf(sample, sample === 'empty' ? 0 : 10_000)
        const { status, code, id } = await send(file, declared)
        expect([declared, sample, status, code]).toEqual([declared, sample, 403, 'type_mismatch'])
        expect(await fileRow(id ?? (await lastFile()))).toEqual({
          status: 'failed',
          failure_reason: 'type_mismatch',
          found_type: expect.stringMatching(found === 'text/plain' ? /^text\/plain$/ : /./),
        })
      }
      expect(site.bucket.traffic.seen().length).toBe(sent)
      expect(await usedBytes()).toEqual(before)
    },
  )

  it.each(WAYS)('accepts every correctly declared file sent by %s', { tags: 'long' }, async (_, send) => {
    for (const [declared, sample] of TRUE_FILES) {
      const { status } = await send(fileOf(sample, 0), declared)
      expect([declared, status < 300]).toEqual([declared, true])
    }
    expect((await fileRow(await lastFile())).found_type).toBe('text/plain')
  })

  it.each([
    ['TUS', byTus, 1],
    ['Resumable Uploads', byDraft, 3],
    ['a plain request', byPut, 1],
  ] as const)(
    'makes the same decision for pieces sent by %s as for the entire file',
    { tags: 'long', timeout: 120_000 },
    async (_, send, firstBytes) => {
      const before = await usedBytes()
      const sent = site.bucket.traffic.seen().length
      await eightAtOnce(LIARS, async ([declared, sample]) => {
        const { status, code, id } = await send(
          sampleOf(sample),
          declared,
          firstBytes,
          await site.client(node),
        )
        expect([declared, sample, status, code]).toEqual([declared, sample, 403, 'type_mismatch'])
        if (id) expect((await fileRow(id)).status).toBe('failed')
      })
      expect(site.bucket.traffic.seen().length).toBe(sent)
      expect(await usedBytes()).toEqual(before)
      await eightAtOnce(TRUE_FILES, async ([declared, sample]) => {
        const { status, id } = await send(sampleOf(sample), declared, firstBytes, await site.client(node))
        expect([declared, status < 300]).toEqual([declared, true])
        expect((await fileRow(id!)).status).toBe('transferred')
      })
    },
  )

  it('decides based on the bytes of earlier requests, too, and sends nothing before that', async () => {
    const liar = fileOf('exe', 9 * MiB)
    const url = await client.begin(liar.length, named('image/png'))
    const sent = site.bucket.traffic.seen().length
    expect((await client.patch(url, 0, liar.subarray(0, 4000))).status).toBe(204)
    expect((await client.patch(url, 4000, liar.subarray(4000, 4099))).status).toBe(204)
    const refused = await client.patch(url, 4099, liar.subarray(4099))
    expect(refused.status).toBe(403)
    expect(JSON.parse(refused.body).detail).toBe(
      'The file was declared as image/png, but its content is application/x-msdownload.',
    )
    expect(site.bucket.traffic.seen().length).toBe(sent)
    expect((await client.head(url)).status).toBe(410)
  })

  it('does not fail a file for bytes damaged in transit if the request has a checksum', async () => {
    const file = fileOf('png', 18 * MiB)
    const damaged = Buffer.from(file)
    damaged[1]! ^= 1
    const digest = (bytes: Buffer) => ({
      'Upload-Checksum': `sha1 ${createHash('sha1').update(bytes).digest('base64')}`,
    })
    const url = await client.begin(file.length, named('image/png'))
    const sent = site.bucket.traffic.seen().length
    expect((await client.patch(url, 0, damaged, digest(file))).status).toBe(460)
    expect(site.bucket.traffic.seen().length).toBe(sent)
    expect((await client.patch(url, 0, file, digest(file))).status).toBe(204)
    const liar = fileOf('exe', 18 * MiB)
    const other = await client.begin(liar.length, named('image/png'))
    const before = site.bucket.traffic.seen().length
    expect((await client.patch(other, 0, liar, digest(liar))).status).toBe(403)
    expect(site.bucket.traffic.seen().length).toBe(before)
    expect((await fileRow(fileIdOf(other))).status).toBe('failed')
  })

  it('checks a short file whose length was declared after its bytes, even after a crash', async () => {
    const file = sampleOf('pdf')
    const begin = () => client.begin(null, named('image/png'))
    const url = await begin()
    expect((await client.patch(url, 0, file)).status).toBe(204)
    const length = { 'Upload-Length': String(file.length) }
    expect((await client.patch(url, file.length, Buffer.alloc(0), length)).status).toBe(403)
    const crashed = await begin()
    await client.patch(crashed, 0, file)
    await database.db.execute(
      sql`update files set length_bytes = ${file.length} where id = ${fileIdOf(crashed)}::uuid`,
    )
    await reconcileUploads(node.context)
    expect(await fileRow(fileIdOf(crashed))).toMatchObject({
      status: 'failed',
      failure_reason: 'type_mismatch',
      found_type: 'application/pdf',
    })
  })

  it('accepts anything after the first bytes', async () => {
    const file = fileOf('png', 12 * MiB)
    const { status, id } = await byTus(file, 'image/png', 5 * MiB)
    expect(status).toBe(204)
    expect(await fileRow(id!)).toEqual({
      status: 'transferred',
      failure_reason: null,
      found_type: 'image/png',
    })
    const text = Buffer.from('ä'.repeat(5000))
    expect((await byTus(text, 'text/plain', 4099)).status).toBe(204)
  })

  it.each([
    ['a full part', 64 * MiB],
    ['a part that was spilled', 16 * MiB],
  ])(
    'returns the memory of refused bytes that were %s',
    { timeout: 30_000 },
    async (_, uploadMemoryBytes) => {
      const { runtime } = site
      const small = await serveUploads({ ...runtime, config: { ...runtime.config, uploadMemoryBytes } })
      const ways = {
        whole: async (file: Buffer, by: TusClient) =>
          (await byTus(file, 'image/png', file.length, by)).status,
        'in chunks': async (file: Buffer, by: TusClient) =>
          (await byTus(file, 'image/png', 3 * MiB, by)).status,
        atomic: async (file: Buffer, by: TusClient) => {
          const url = await by.begin(file.length, named('image/png'))
          const checksum = `sha1 ${createHash('sha1').update(file).digest('base64')}`
          return (await by.patch(url, 0, file, { 'Upload-Checksum': checksum })).status
        },
      }
      for (let n = 0; n < REFUSED_EACH_WAY; n++)
        for (const [way, send] of Object.entries(ways)) {
          const status = await send(fileOf('exe', 9 * MiB), await site.client(small))
          expect([way, status, small.context.budget.usedBytes]).toEqual([way, 403, 0])
        }
      expect(await ways.whole(fileOf('png', 9 * MiB), await site.client(small))).toBe(204)
      await small.close()
    },
  )

  it('offers no concatenation', async () => {
    const { headers } = await httpCall({
      method: 'OPTIONS',
      url: client.collection,
      headers: { 'Tus-Resumable': '1.0.0' },
    })
    expect(headers['tus-extension']).not.toContain('concatenation')
    const refused = await client.create(5, { 'Upload-Concat': 'partial' })
    expect(JSON.parse(refused.body).detail).toContain('verifies the content')
  })
})
