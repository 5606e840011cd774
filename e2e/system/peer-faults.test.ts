import { randomBytes } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { DatabaseHandle } from '#lib/platform/db/database.ts'
import type { Fault } from '#packages/local-bucket/faults.ts'
import { ALL_ACTIONS } from '#packages/local-bucket/key-ring.ts'
import type { TrafficFilter } from '#packages/local-bucket/traffic.ts'
import { openTestDatabase } from '../../test/support/databases.ts'
import { servePeer } from '../../test/support/peer.ts'
import { fileIdOf, OFFSET_STREAM, openPatch, type TusReply, tusCall } from '../../test/support/tus-client.ts'
import { createSite, type Site, serveUploads } from '../../test/support/upload-site.ts'

/**
 * Reproduces three failures of @tus/server with @tus/s3-store, and puts Sluice in the same situation: the same bytes,
 * the same fault, the same bucket. The tests expect both outcomes, so they also show when the peer has been fixed.
 */
const MiB = 1024 * 1024
const PART = 5 * MiB

let database: DatabaseHandle & { url: string }
let site: Site
let node: Awaited<ReturnType<typeof serveUploads>>
let peer: Awaited<ReturnType<typeof servePeer>>

beforeAll(async () => {
  database = await openTestDatabase()
  site = await createSite(database, { bucket: { actions: ALL_ACTIONS } })
  node = await serveUploads(site.runtime)
  const { endpoint, region, name, key } = site.bucket
  peer = await servePeer({ endpoint, region, bucket: name, credentials: key }, PART)
})
afterEach(() => site.bucket.faults.clear())
afterAll(async () => {
  await Promise.all([node?.close(), peer?.close()])
  await site?.close()
  await database?.close()
})

type Server = { collection: string; token: string; keyOf(url: string): string }
const sluice = async (): Promise<Server> => ({
  collection: `${node.url}/pipes/${site.pipe.id}/files/`,
  token: await site.token(),
  keyOf: (url) => `${fileIdOf(url)}/file`,
})
const thePeer = async (): Promise<Server> => ({ collection: peer.url, token: 'none', keyOf: fileIdOf })

async function create({ collection, token }: Server, length: number): Promise<string> {
  const headers = { 'Upload-Length': String(length) }
  return (await tusCall({ method: 'POST', url: collection, token, headers })).headers.location!
}

/** Resolves to undefined if the server closes the connection. */
function patch({ token }: Server, url: string, offset: number, body: Buffer): Promise<TusReply | undefined> {
  const headers = { 'Upload-Offset': String(offset), ...OFFSET_STREAM }
  return tusCall({ method: 'PATCH', url, token, headers, body }).catch(() => undefined)
}

async function offsetOf({ token }: Server, url: string): Promise<number> {
  for (;;) {
    const { status, headers } = await tusCall({ method: 'HEAD', url, token })
    if (status === 200) return Number(headers['upload-offset'])
    expect(status).toBe(423)
  }
}

/** Acts like every client: requests the offset and sends the rest, until the server has confirmed everything. */
async function resume(server: Server, url: string, whole: Buffer): Promise<void> {
  for (let times = 0; times < 5; times++) {
    const offset = await offsetOf(server, url)
    if (offset === whole.length) return
    await patch(server, url, offset, whole.subarray(offset))
  }
  throw new Error('the upload did not finish')
}

const isSource = async (server: Server, url: string, whole: Buffer) =>
  (await site.bucket.object(server.keyOf(url))).equals(whole)

/** Makes the bucket read a part, and respond with 500 once the small object next to it is stored. */
function fails(server: Server, url: string, fault: Partial<Fault>, beside: TrafficFilter, count = 1): void {
  const part = { operation: 'UploadPart', key: server.keyOf(url), at: 'body', ...fault } as const
  site.bucket.faults.add({ ...part, effect: { kind: 'hold', gate: url } })
  site.bucket.faults.add({ ...part, effect: { kind: 'refuse', status: 500, code: 'InternalError' } })
  const stored = { key: server.keyOf(url), state: 'answered', ...beside } as const
  void site.bucket.traffic.until(stored, count).then(() => site.bucket.faults.release(url))
}

describe('25 MiB in parts of 5 MiB, and one 500 for the second part', () => {
  const whole = randomBytes(25 * MiB)

  async function upload(server: Server, partNumber: number) {
    const url = await create(server, whole.length)
    fails(server, url, { partNumber: 2 }, { partNumber })
    await patch(server, url, 0, whole)
    const offset = await offsetOf(server, url)
    await resume(server, url, whole)
    return { offset, equal: await isSource(server, url, whole) }
  }

  it('the peer confirms bytes past the gap, and its object differs from the source', async () => {
    expect(await upload(await thePeer(), 5)).toEqual({ offset: 20 * MiB, equal: false })
  })

  it("Sluice's object equals the source", async () => {
    expect(await upload(await sluice(), 3)).toEqual({ offset: whole.length, equal: true })
  })
})

describe('4 MiB acknowledged, then one 500', () => {
  const whole = randomBytes(12 * MiB)

  /** The peer stores data that is too small for a part in a separate object, once for each of the two requests. */
  const inPart = (url: string) => ({ operation: 'PutObject', key: `${fileIdOf(url)}.part` }) as const
  const inMultipart = () => ({ operation: 'CreateMultipartUpload' }) as const

  async function upload(server: Server, beside: (url: string) => TrafficFilter, count: number) {
    const url = await create(server, whole.length)
    const first = await patch(server, url, 0, whole.subarray(0, 4 * MiB))
    fails(server, url, {}, beside(url), count)
    await patch(server, url, 4 * MiB, whole.subarray(4 * MiB, 8 * MiB))
    const offset = await offsetOf(server, url)
    await resume(server, url, whole)
    return {
      acknowledged: Number(first!.headers['upload-offset']),
      offset,
      equal: await isSource(server, url, whole),
    }
  }

  it('the peer loses acknowledged bytes, and its object differs from the source', async () => {
    const { acknowledged, offset, equal } = await upload(await thePeer(), inPart, 2)
    expect(acknowledged).toBe(4 * MiB)
    expect(offset).toBe(3 * MiB)
    expect(equal).toBe(false)
  })

  it('Sluice keeps what it acknowledged, and its object equals the source', async () => {
    const { acknowledged, offset, equal } = await upload(await sluice(), inMultipart, 1)
    expect(acknowledged).toBe(4 * MiB)
    expect(offset).toBeGreaterThanOrEqual(acknowledged)
    expect(equal).toBe(true)
  })
})

describe('60 clients that send one byte and then nothing', () => {
  const IDLE = 60
  const small = randomBytes(1024)

  /** The peer's last request to the bucket before it takes one of its slots for parts. */
  const lookedForTail = (url: string) =>
    site.bucket.traffic.until({ operation: 'GetObject', key: `${fileIdOf(url)}.part`, state: 'answered' })

  async function fallSilent(server: Server, begun: (url: string) => Promise<unknown>) {
    return Promise.all(
      Array.from({ length: IDLE }, async () => {
        const url = await create(server, 10 * MiB)
        const silent = openPatch(server, url, { offset: 0, length: 10 * MiB })
        await silent.write(Buffer.alloc(1))
        await begun(url)
        return silent
      }),
    )
  }

  async function uploadSmall(server: Server): Promise<number | undefined> {
    const url = await create(server, small.length)
    return (await patch(server, url, 0, small))?.status
  }

  it('the peer responds to nobody until one of them disconnects, and Sluice keeps responding', async () => {
    const [there, here] = [await thePeer(), await sluice()]
    const silentThere = await fallSilent(there, lookedForTail)
    const silentHere = await fallSilent(here, async () => {})
    let answered = false
    const waiting = uploadSmall(there).then((status) => {
      answered = true
      return status
    })
    for (let n = 0; n < 20; n++) expect(await uploadSmall(here)).toBe(204)
    expect(answered).toBe(false)
    for (const one of [...silentThere, ...silentHere]) one.cut()
    expect(await waiting).toBe(204)
  })
})
