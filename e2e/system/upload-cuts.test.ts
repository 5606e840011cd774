import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { Upload, type UploadOptions } from 'tus-js-client'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { DatabaseHandle } from '#lib/platform/db/database.ts'
import { openTestDatabase } from '../../test/support/databases.ts'
import { startUploadNode, type UploadNode } from '../../test/support/start-upload-node.ts'
import { fileIdOf, openPatch, type TusClient } from '../../test/support/tus-client.ts'
import { createSite, type Site } from '../../test/support/upload-site.ts'

/**
 * Runs popular clients on connections that break at arbitrary bytes. Every object must equal its source, and hardly any
 * bytes may be resent.
 */
const MiB = 1024 * 1024
/** Set `UPLOADS=200` for a longer run. */
const UPLOADS = Number(process.env.UPLOADS ?? 8)
const AT_ONCE = 4
/**
 * The number of bytes that an interruption may lose while the server stays up. While a part has to wait, the rest of
 * one chunk stays in the source, and Node buffers another 64 KiB. A connection that ends at that moment loses both.
 */
const LOST_PER_CUT = 2 * 65_536

let database: DatabaseHandle & { url: string }
let site: Site
let node: UploadNode
/** Every upload is a range of these bytes. */
const material = randomBytes(64 * MiB)

beforeAll(async () => {
  database = await openTestDatabase()
  site = await createSite(database, { settings: { FREE_TIER_BYTES: '0' } })
  node = await startUploadNode({ databaseUrl: database.url })
})
afterEach(async () => {
  expect(await site.bucket.unfinished()).toEqual([])
})
afterAll(async () => {
  await node?.stop()
  await site?.close()
  await database?.close()
})

const stored = (url: string, name = 'file') => site.bucket.object(`${fileIdOf(url)}/${name}`)

/** Returns the same numbers in every run, so that failures can be reproduced. */
function dice(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0
    const mixed = Math.imul(state ^ (state >>> 13), 0x297a2d39)
    return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32
  }
}

/** Returns a source of 1 to 60 MiB. Small ones are more frequent. */
function sourceOf(roll: () => number): Buffer {
  const bytes = Math.floor(MiB * 60 ** roll())
  const from = Math.floor(roll() * (material.length - bytes))
  return material.subarray(from, from + bytes)
}

function cutsOf(roll: () => number, bytes: number): number[] {
  const count = 1 + Math.floor(roll() * 10)
  return Array.from({ length: count }, () => Math.floor(roll() * bytes)).sort((a, b) => a - b)
}

/** Uses raw connections: each sends up to its cut and disconnects. */
async function sendWithCuts(source: Buffer, cuts: number[], roll: () => number): Promise<void> {
  const client = await site.client(node)
  const url = await client.begin(source.length)
  let offset = 0
  for (const cut of cuts.filter((at) => at > 0)) {
    if (cut <= offset) continue
    // Some requests send a complete chunk of at least one byte, without being cut.
    if (roll() < 0.3) {
      const chunk = source.subarray(offset, offset + Math.ceil((cut - offset) * roll() ** 8) || 1)
      expect((await client.patch(url, offset, chunk)).status).toBe(204)
      offset += chunk.length
      if (cut <= offset) continue
    }
    const patch = openPatch(client, url, { offset, length: source.length - offset })
    await patch.write(source.subarray(offset, cut))
    patch.cut()
    offset = await confirmed(client, url)
    expect(cut - offset).toBeLessThan(LOST_PER_CUT)
  }
  expect((await client.patch(url, offset, source.subarray(offset))).status).toBe(204)
  expect((await stored(url)).equals(source)).toBe(true)
}

async function confirmed(client: TusClient, url: string): Promise<number> {
  for (;;) {
    const head = await client.head(url)
    if (head.status === 200) return Number(head.headers['upload-offset'])
    expect(head.status).toBe(423)
  }
}

/** Uses tus-js-client, aborted at each cut and restarted, as after a reload. */
async function uploadWithCuts(source: Buffer, cuts: number[], options: UploadOptions = {}): Promise<string> {
  let uploadUrl: string | null = null
  for (const cut of [...cuts, Number.POSITIVE_INFINITY]) {
    const done = await new Promise<boolean>((resolve, reject) => {
      const upload: Upload = new Upload(source, {
        ...options,
        ...(uploadUrl && { uploadUrl }),
        onProgress(sent) {
          uploadUrl = upload.url
          if (sent >= cut && uploadUrl) void upload.abort().then(() => resolve(false), reject)
        },
        onSuccess: () => resolve(true),
        onError: reject,
      })
      upload.start()
    }).catch((error) => {
      throw new Error(`cut at ${cut} of ${source.length}: ${error}`)
    })
    if (done) break
  }
  return uploadUrl!
}

async function optionsOf(more: UploadOptions = {}): Promise<UploadOptions> {
  return {
    endpoint: `${node.url}/pipes/${site.pipe.id}/files/`,
    headers: { Authorization: `Bearer ${await site.token()}` },
    retryDelays: [0, 1000, 3000, 5000],
    metadata: { filename: 'film.mp4', filetype: 'video/mp4' },
    ...more,
  }
}

describe(`${UPLOADS} uploads of 1 to 60 MiB, each cut at 1 to 10 places`, () => {
  it('every object equals its source, and less than 128 KiB is resent per cut', {
    timeout: 600_000,
    tags: 'long',
  }, async () => {
    let next = 0
    const worker = async () => {
      for (let n = next++; n < UPLOADS; n = next++) {
        const roll = dice(n + 1)
        const source = sourceOf(roll)
        const cuts = cutsOf(roll, source.length)
        if (n % 4 === 0) {
          const chunkSize = roll() < 0.5 ? Number.POSITIVE_INFINITY : Math.ceil(roll() * 9 * MiB)
          const url = await uploadWithCuts(source, cuts, await optionsOf({ chunkSize }))
          expect((await stored(url, 'film.mp4')).equals(source)).toBe(true)
        } else {
          await sendWithCuts(source, cuts, roll)
        }
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, worker))
  })
})

describe('tus-js-client', () => {
  const source = material.subarray(0, 21 * MiB + 5)

  it.each([
    ['in chunks of 1 MiB', { chunkSize: MiB }],
    ['with its first bytes in the creation', { uploadDataDuringCreation: true }],
  ])('uploads %s', async (_, more: UploadOptions) => {
    const url = await uploadWithCuts(source, [], await optionsOf(more))
    expect((await stored(url, 'film.mp4')).equals(source)).toBe(true)
  })

  it('uploads a stream of unknown length', async () => {
    const options = await optionsOf({ uploadLengthDeferred: true, chunkSize: 6 * MiB })
    const url = await new Promise<string>((resolve, reject) => {
      const upload: Upload = new Upload(
        Readable.from([source.subarray(0, 9 * MiB), source.subarray(9 * MiB)]) as never,
        {
          ...options,
          onSuccess: () => resolve(upload.url!),
          onError: reject,
        },
      )
      upload.start()
    })
    expect((await stored(url, 'film.mp4')).equals(source)).toBe(true)
  })

  it('two tabs with one upload both finish', async () => {
    const options = await optionsOf()
    const begun = await site.client(node)
    const made = await begun.create(source.length, { 'Upload-Metadata': `filename ${btoa('film.mp4')}` })
    const tab = () =>
      new Promise<void>((resolve, reject) => {
        const upload = new Upload(source, {
          ...options,
          uploadUrl: made.headers.location!,
          onSuccess: () => resolve(),
          onError: reject,
        })
        upload.start()
      })
    await Promise.all([tab(), tab()])
    expect((await stored(made.headers.location!, 'film.mp4')).equals(source)).toBe(true)
  })
})
