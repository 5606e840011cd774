import { createHash, randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { files, imports } from '#drizzle/schema/index.ts'
import { openTestDatabase } from '../../test/support/databases.ts'
import {
  importOne,
  openSource,
  readImportRow,
  sendFile,
  startImporting,
  wantedStart,
} from '../../test/support/import-site.ts'
import { createSite, type Site } from '../../test/support/upload-site.ts'
import { cancelFile } from '../dashboard/files/act-on-files.ts'
import { readSnapshot } from '../dashboard/live.ts'
import type { DatabaseHandle } from '../platform/db/database.ts'
import { hours, seconds } from '../platform/kernel/clock.ts'
import { revokeSender } from '../workspace/senders/change-sender.ts'
import { createSender } from '../workspace/senders/create-sender.ts'
import { createImports } from './create-imports.ts'
import { readFailingImports } from './read-imports.ts'

const MiB = 1024 * 1024
const ETAG = '"one"'

describe('an import', () => {
  let database: DatabaseHandle
  let site: Site
  let worker: Awaited<ReturnType<typeof startImporting>>
  let source: Awaited<ReturnType<typeof openSource>>
  let answer: (req: IncomingMessage, res: ServerResponse, at: number) => void
  const bytes = randomBytes(12 * MiB)
  beforeAll(async () => {
    database = await openTestDatabase()
    site = await createSite(database, { pipe: { source: { http: true, url: true } } })
    source = await openSource((req, res) => answer(req, res, source.requests.length))
    worker = await startImporting(site, {
      importTerms: { slow: { bytes: 64 * 1024, perMs: 200 }, lookMs: 50 },
    })
  })
  afterAll(async () => {
    await worker?.stop()
    await source?.close()
    await site?.close()
    await database?.close()
  })

  const begin = (how: typeof answer, asked: Record<string, unknown> = {}) => {
    answer = how
    source.requests.length = 0
    return importOne(site, { url: `${source.url}/films/a%20film.mp4?key=secret`, ...asked })
  }
  const rowOf = (id: string) => readImportRow(database.db, id)
  const ended = (id: string) =>
    vi.waitFor(
      async () => {
        const row = await rowOf(id)
        expect(row.status).not.toBe('uploading')
        expect(row.isDue).toBe(false)
        return row
      },
      { timeout: 20_000, interval: 20 },
    )
  const postponed = (id: string) =>
    vi.waitFor(
      async () => {
        const row = await rowOf(id)
        expect(row.failures).toBeGreaterThan(0)
        return row
      },
      { timeout: 20_000, interval: 20 },
    )
  const object = async (id: string) => {
    const key = (await site.bucket.objects()).find((one) => one.startsWith(id))
    return key === undefined ? undefined : site.bucket.object(key)
  }
  const expectEqual = async (id: string, whole = bytes) => {
    expect(await ended(id)).toMatchObject({ status: 'transferred', failureReason: null })
    expect((await object(id))!.equals(whole)).toBe(true)
  }
  const expectFailed = async (id: string, reason: string | RegExp) => {
    const row = await ended(id)
    expect(row).toMatchObject({ status: 'failed', failureReason: expect.stringMatching(reason) })
    expect(await object(id)).toBeUndefined()
  }

  it("becomes an object that is named after the URL's path and has the source's type", async () => {
    const id = await begin((req, res) => sendFile(req, res, { bytes, etag: ETAG }))
    await expectEqual(id)
    expect((await rowOf(id)).filetype).toBe('video/mp4')
    expect(await site.bucket.objects()).toContain(`${id}/a film.mp4`)
    const [kept] = await database.db.select().from(imports).where(eq(imports.fileId, id))
    expect(kept).toMatchObject({ shownUrl: `${source.url}/films/a%20film.mp4`, sealed: '' })
  })

  it('has no characters in its name that reverse text', async () => {
    const filename = 'a\u202egpj.exe'
    const id = await begin((req, res) => sendFile(req, res, { bytes, etag: ETAG }), { filename })
    await expectEqual(id)
    const [file] = await database.db.select().from(files).where(eq(files.id, id))
    expect(file).toMatchObject({ filename: 'agpj.exe' })
  })

  it('fetches each byte once from a source that repeatedly closes the connection', async () => {
    const id = await begin((req, res) => sendFile(req, res, { bytes, etag: ETAG, cutAfter: 5 * MiB }))
    await expectEqual(id)
    const starts = source.requests.map(({ range }) => range)
    expect(starts).toEqual([undefined, `bytes=${5 * MiB}-`, `bytes=${10 * MiB}-`])
    expect(source.requests.slice(1).every((headers) => headers['if-range'] === ETAG)).toBe(true)
  })

  it('is not abandoned by attempts that each fetch a little', { tags: 'long' }, async () => {
    const fetched = (cutAfter: number, whole: Buffer) =>
      begin((req, res) => sendFile(req, res, { bytes: whole, etag: ETAG, cutAfter }))
    const film = bytes.subarray(0, 2 * MiB)
    await expectEqual(await fetched(700_000, film), film)
    // More attempts than a failing import gets.
    const few = bytes.subarray(0, 12)
    const id = await fetched(1, few)
    const goOn = async () => {
      // The pause between attempts that fetch little. Longer steps would reach the import's end on a slow machine.
      site.clock.advance(seconds(5))
      expect((await rowOf(id)).offsetBytes).toBe(few.length)
    }
    await vi.waitFor(goOn, { timeout: 120_000 })
    await expectEqual(id, few)
  })

  it('continues computing its digest where it was interrupted', async () => {
    const digest = `sha-256:${createHash('sha256').update(bytes).digest('hex')}`
    const id = await begin((req, res) => sendFile(req, res, { bytes, etag: ETAG, cutAfter: 5 * MiB }), {
      digest,
    })
    await expectEqual(id)
    expect(source.requests.at(-1)!.range).toBe(`bytes=${10 * MiB}-`)
  })

  it('continues after a range that ends before the file does, and then verifies its digest', {
    tags: 'long',
  }, async () => {
    const digest = `sha-256:${createHash('sha256').update(bytes).digest('hex')}`
    const id = await begin(
      (req, res) => {
        const from = wantedStart(req, ETAG)
        const to = Math.min(from + 4 * MiB, bytes.length)
        const range = { 'Content-Range': `bytes ${from}-${to - 1}/${bytes.length}` }
        if (from > 0) return res.writeHead(206, { ETag: ETAG, ...range }).end(bytes.subarray(from, to))
        sendFile(req, res, { bytes, etag: ETAG, cutAfter: 5 * MiB })
      },
      { digest },
    )
    await expectEqual(id)
    expect(source.requests.at(-1)!.range).toBe(`bytes=${9 * MiB}-`)
  })

  it('fails if its digest differs from the declared one', async () => {
    const digest = `sha-256:${'0'.repeat(64)}`
    await expectFailed(
      await begin((req, res) => sendFile(req, res, { bytes, etag: ETAG }), { digest }),
      'digest_mismatch',
    )
    const chunked = (_: IncomingMessage, res: ServerResponse) =>
      res.writeHead(200).write(bytes, () => res.end())
    await expectFailed(await begin(chunked, { digest }), 'digest_mismatch')
  })

  it('fails if its digest differs, even if no more bytes arrive', async () => {
    const digest = `sha-256:${'0'.repeat(64)}`
    await expectFailed(
      await begin((_, res) => res.writeHead(200, { 'Content-Length': 0 }).end(), { digest }),
      'digest_mismatch',
    )
    const left = async (_: IncomingMessage, res: ServerResponse, at: number) => {
      if (at > 1) return res.writeHead(416, { 'Content-Range': `bytes */${MiB}` }).end()
      res.writeHead(200, { ETag: ETAG }).write(bytes.subarray(0, MiB), () => res.destroy())
    }
    await expectFailed(await begin(left, { digest }), 'digest_mismatch')
  })

  it('fails if a new response differs from the existing bytes, even if the source reported no length before', async () => {
    const other = randomBytes(7 * MiB)
    const changed = (_: IncomingMessage, res: ServerResponse, at: number) => {
      if (at > 1) return res.writeHead(200, { 'Content-Length': other.length }).end(other)
      res.writeHead(200).write(bytes.subarray(0, other.length), () => res.destroy())
    }
    await expectFailed(await begin(changed), 'source_changed')
  })

  it.each([
    ['that ignores ranges', { ETag: ETAG }, `bytes=${7 * MiB}-`],
    ['that sends no validator', {}, undefined],
  ])(
    'reads a source %s again from the start, and stores only the missing bytes',
    async (_, headers, range) => {
      const id = await begin((_, res, at) => {
        res.writeHead(200, { ...headers, 'Content-Length': bytes.length })
        if (at === 1) res.write(bytes.subarray(0, 7 * MiB), () => res.socket?.end())
        else res.end(bytes)
      })
      await expectEqual(id)
      expect(source.requests.map((asked) => asked.range)).toEqual([undefined, range])
    },
  )

  it('ends with the response body if the source reports no length', async () => {
    await expectEqual(await begin((_, res) => res.writeHead(200).write(bytes, () => res.end())))
    await expectEqual(
      await begin((_, res) => res.writeHead(200, { 'Content-Length': 0 }).end()),
      Buffer.alloc(0),
    )
  })

  it('is complete if the source responds that it has no more bytes', { tags: 'long' }, async () => {
    const id = await begin((_, res, at) => {
      if (at > 1) return res.writeHead(416, { 'Content-Range': `bytes */${bytes.length}` }).end()
      res.writeHead(200, { ETag: ETAG }).write(bytes, () => setImmediate(() => res.socket?.end()))
    })
    await expectEqual(id)
  })

  it('fails if the source has changed between two attempts', { tags: 'long' }, async () => {
    const other = randomBytes(bytes.length)
    const id = await begin((req, res, at) =>
      at === 1
        ? sendFile(req, res, { bytes, etag: ETAG, cutAfter: 7 * MiB })
        : sendFile(req, res, { bytes: other, etag: '"two"' }),
    )
    await expectFailed(id, 'source_changed')
    const shrunk = await begin((req, res, at) =>
      at === 1
        ? res.writeHead(200).write(bytes.subarray(0, 7 * MiB), () => res.socket?.end())
        : sendFile(req, res, { bytes: bytes.subarray(0, MiB), etag: ETAG }),
    )
    await expectFailed(shrunk, 'source_changed')
  })

  it('continues with a new version that starts with the same bytes', { tags: 'long' }, async () => {
    const id = await begin((req, res, at) =>
      at === 1
        ? sendFile(req, res, { bytes, etag: ETAG, cutAfter: 7 * MiB })
        : sendFile(req, res, { bytes, etag: '"two"', cutAfter: 10 * MiB }),
    )
    await expectEqual(id)
    expect(source.requests.at(-1)!.range).toBe(`bytes=${10 * MiB}-`)
  })

  it('fails if the source ignores If-Range and sends part of another version', async () => {
    const id = await begin((req, res, at) => {
      if (at === 1) return sendFile(req, res, { bytes, etag: ETAG, cutAfter: 7 * MiB })
      expect(wantedStart(req, ETAG)).toBe(7 * MiB)
      const range = `bytes ${7 * MiB}-${bytes.length - 1}/${bytes.length}`
      res.writeHead(206, { ETag: '"two"', 'Content-Range': range }).end(bytes.subarray(7 * MiB))
    })
    await expectFailed(id, 'source_changed')
  })

  it('fails if the source compresses the file or does not indicate where it ends', async () => {
    await expectFailed(
      await begin((_, res) => res.writeHead(200, { 'Content-Encoding': 'gzip' }).end(gzipSync(bytes))),
      'compressed .*gzip',
    )
    await expectFailed(
      await begin((_, res) => {
        res.useChunkedEncodingByDefault = false
        res.writeHead(200, { Connection: 'close' })
        res.end(bytes)
      }),
      'or where it ends',
    )
  })

  it('fails immediately after a permanent status such as 404, and waits after a temporary one', async () => {
    await expectFailed(await begin((_, res) => res.writeHead(404).end()), 'status 404')
    const id = await begin((req, res, at) =>
      at === 1
        ? res.writeHead(503, { 'Retry-After': '1200' }).end()
        : sendFile(req, res, { bytes, etag: ETAG }),
    )
    expect(await postponed(id)).toMatchObject({
      status: 'uploading',
      lastError: expect.stringContaining('503'),
    })
    site.clock.advance(1_200_000)
    await expectEqual(id)
  })

  it('is abandoned after a day of failures', async () => {
    const id = await begin((_, res) => res.writeHead(500).end())
    for (const failures of [1, 2]) {
      await vi.waitFor(async () => expect((await rowOf(id)).failures).toBe(failures), { timeout: 10_000 })
      site.clock.advance(hours(13))
    }
    await expectFailed(id, 'within 24 hours.*status 500')
  })

  it('is retried until bytes arrive, also while its source does not respond', async () => {
    const id = await begin((_, res) => res.writeHead(503).end())
    await postponed(id)
    answer = () => {}
    const before = source.requests.length
    site.clock.advance(hours(1))
    await vi.waitFor(() => expect(source.requests.length).toBeGreaterThan(before), { timeout: 10_000 })
    const shown = async () => {
      const { uploads } = await readSnapshot(database.db, site.actor.workspaceId, 'uploads')
      const failing = await readFailingImports(site.runtime, [{ id, protocol: 'url', status: 'uploading' }])
      return [failing.get(id), uploads!.find((upload) => upload.id === id)!.retrying]
    }
    expect(await shown()).toEqual(['The source responded with status 503.', true])
    const lastByteAt = new Date(site.clock.now() + 1)
    await database.db.update(files).set({ lastByteAt }).where(eq(files.id, id))
    expect(await shown()).toEqual([undefined, false])
    await cancelFile(site.runtime, site.actor, id)
  })

  it('follows redirects, and sends its headers only to the first origin', async () => {
    const other = await openSource((req, res) => sendFile(req, res, { bytes, etag: ETAG }))
    const headers = { Authorization: 'Basic secret' }
    const id = await begin(
      (req, res, at) => {
        expect(req.headers.authorization).toBe('Basic secret')
        res.writeHead(302, { Location: at === 1 ? '/moved' : `${other.url}/film.mp4` }).end()
      },
      { headers },
    )
    await expectEqual(id)
    expect(other.requests.map(({ authorization }) => authorization)).toEqual([undefined])
    await other.close()
  })

  it('fails on a redirect to a private address or another scheme, and on endless redirects', async () => {
    const to = (location: string) => begin((_, res) => res.writeHead(302, { Location: location }).end())
    await expectFailed(
      await to('http://169.254.169.254/latest/meta-data'),
      'reserved|not on the public internet',
    )
    await expectFailed(await to('file:///etc/passwd'), 'not http or https')
    await expectFailed(await to('/again'), 'more than 5 times')
  })

  it('is postponed if the source is too slow', { tags: 'long' }, async () => {
    const id = await begin((_, res) => {
      res.writeHead(200, { 'Content-Length': bytes.length }).write('x')
    })
    expect((await postponed(id)).lastError).toMatch('sent less than')
    await cancelFile(site.runtime, site.actor, id)
  })

  it('fails at its size limit if the source does not stop sending', async () => {
    const chunk = randomBytes(MiB)
    const id = await begin(
      (_, res) => {
        const more = () => {
          while (res.writable && res.write(chunk));
        }
        res.on('drain', more)
        more()
      },
      { maxBytes: 8 * MiB },
    )
    await expectFailed(id, 'past the end|at most')
    await expectFailed(
      await begin((req, res) => sendFile(req, res, { bytes, etag: ETAG }), { maxBytes: MiB }),
      'at most',
    )
  })

  it('can be canceled while it is being fetched, and cannot be created by a revoked Sender', {
    tags: 'long',
  }, async () => {
    const endless = (_: IncomingMessage, res: ServerResponse) => {
      res.writeHead(200, { 'Content-Length': bytes.length }).write(bytes.subarray(0, 6 * MiB))
    }
    const id = await begin(endless)
    await vi.waitFor(async () => expect((await rowOf(id)).lengthBytes).toBe(bytes.length), {
      timeout: 10_000,
    })
    await cancelFile(site.runtime, site.actor, id)
    expect((await ended(id)).status).toBe('canceled')
    const sender = await createSender(site.runtime, site.actor, { name: 'Another' })
    await revokeSender(site.runtime, site.actor, sender.id)
    const files = [{ url: `${source.url}/film.mp4` }]
    const input = { pipeId: site.pipe.id, keyPrefix: '', metadata: {}, files }
    await expect(createImports(site.runtime, sender.token, input)).rejects.toThrow('revoked')
  })
})
