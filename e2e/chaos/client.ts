import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../../test/support/random.ts'
import type { Log } from './log.ts'
import { type Call, type Reply, send } from './send.ts'
import type { Source } from './source.ts'

/** A client's environment, and when it may give up. */
export type Site = {
  url: string
  senderToken: string
  /** Issues a token if no node does. */
  issueToken?: ((pipeId: string) => Promise<string>) | undefined
  log: Log
  /** The database may lose its last commits: a client whose token or upload is gone starts over. */
  mayLoseCommits?: boolean
  /** Every node can divide a file into lanes. */
  hasLanes?: boolean
  /** Returns true once an unfinished upload is considered a fault. */
  impatient(): boolean
}

/** An upload's outcome, according to its client. */
export type Outcome = { source: Source; address: string; end: 'transferred' | 'canceled' }

type Upload = {
  site: Site
  random: Random
  source: Source
  pipeId: string
  address: string
  token: string
  known: number
}
type Kind = { deferred: boolean; cancelAt: number | undefined; contended: boolean; lanes: number }
type Lane = { url: string; firstByte: number; length: number }

const OCTETS = { 'Content-Type': 'application/offset+octet-stream' }
const MIB = 1024 * 1024
const COMMON = { 'Tus-Resumable': '1.0.0' }

/**
 * Uploads as a page without a TUS library would. The connection may break, the user may open a second tab, cancel the
 * upload, or come back to it later.
 */
export async function uploadByHand(
  site: Site,
  source: Source,
  pipeId: string,
  random: Random,
): Promise<Outcome> {
  const upload: Upload = { site, random, source, pipeId, address: '', token: '', known: 0 }
  const kind: Kind = {
    deferred: random.chance(0.2),
    cancelAt: random.chance(0.06) ? random.whole(0, source.bytes.length) : undefined,
    contended: random.chance(0.1),
    lanes: site.hasLanes && random.chance(0.8) ? random.whole(2, 4) : 1,
  }
  let lanes = await create(upload, kind)
  for (;;) {
    if (lanes.length > 0 && kind.cancelAt !== undefined) return cancelInLanes(upload, lanes, kind)
    await Promise.all(lanes.map((lane) => sendLane(upload, lane, kind)))
    const offset = await head(upload)
    if (offset === 'gone') {
      if (!site.mayLoseCommits) throw new Error('the upload is gone, although nobody ended it')
      lanes = await create(upload, kind)
      continue
    }
    if (offset.complete) return { source, address: upload.address, end: 'transferred' }
    if (kind.cancelAt !== undefined && offset.at >= kind.cancelAt) {
      // As a library does, half of these clients do not wait for the end of the request that they abandon.
      if (random.chance(0.5)) return cancel(upload)
      const [outcome] = await Promise.all([cancel(upload), patchPart(upload, offset.at)])
      return outcome
    }
    // A failover may have lost the end of a lane, which is then sent again.
    if (!offset.isInLanes) await patches(upload, offset.at, kind)
  }
}

export async function newToken(site: Site, pipeId: string): Promise<string> {
  if (site.issueToken) return site.issueToken(pipeId)
  const reply = await persist(site, 'a token', async () => {
    const got = await send({
      method: 'POST',
      url: `${site.url}/api/v1/tokens`,
      headers: { Authorization: `Bearer ${site.senderToken}`, 'Content-Type': 'application/json' },
      body: Buffer.from(JSON.stringify({ pipeId })),
    })
    return got?.status === 201 ? got : later(site, 'POST tokens', got, [500, 503])
  })
  return JSON.parse(reply.body).token
}

/** Creates the upload. Returns its lanes, if it has several. */
async function create(upload: Upload, kind: Kind): Promise<Lane[]> {
  const { site, random, source, pipeId } = upload
  const name = Buffer.from(source.name).toString('base64')
  const { length } = source.bytes
  const headers: Record<string, string> = {
    'Upload-Metadata': `filename ${name}`,
    ...(kind.deferred ? { 'Upload-Defer-Length': '1' } : { 'Upload-Length': String(length) }),
  }
  const asksForLanes = kind.lanes > 1 && !kind.deferred
  if (asksForLanes) headers['Upload-Lanes'] = String(kind.lanes)
  const withBytes = length > 0 && !asksForLanes && random.chance(0.3)
  const reply = await persist(site, `creating ${source.name}`, async () => {
    const body = withBytes ? source.bytes.subarray(0, random.whole(1, length)) : Buffer.alloc(0)
    const call = {
      method: 'POST',
      url: `${site.url}/pipes/${pipeId}/files/`,
      body,
      cutAfter: cut(random, body),
    }
    const got = await authorized(upload, { ...call, headers: { ...headers, ...(withBytes && OCTETS) } })
    if (got === undefined) site.log.count('creations whose response was lost')
    return got?.status === 201 ? got : later(site, 'POST', got, [423, 502, 503])
  })
  upload.address = reply.headers.location!
  upload.known = Number(reply.headers['upload-offset'] ?? 0)
  if (!reply.headers['upload-lanes']) return []
  site.log.count('files with lanes')
  return JSON.parse(reply.body).lanes
}

/** Sends a lane until it is complete or the file has ended. */
async function sendLane(file: Upload, lane: Lane, kind: Kind): Promise<void> {
  const upload = laneOf(file, lane)
  for (;;) {
    const offset = await head(upload)
    if (offset === 'gone' || offset.complete) return
    await patches(upload, offset.at, kind)
  }
}

function laneOf(file: Upload, { url, firstByte, length }: Lane): Upload {
  const name = `${file.source.name} from ${firstByte}`
  const bytes = file.source.bytes.subarray(firstByte, firstByte + length)
  const random = file.random.fork(name)
  return { ...file, random, source: { ...file.source, name, bytes }, address: url, known: 0 }
}

/** Cancels a file while its lanes are being sent. One of them stays incomplete, so that it can still be canceled. */
async function cancelInLanes(file: Upload, [first, ...others]: Lane[], kind: Kind): Promise<Outcome> {
  const [outcome] = await Promise.all([
    sleep(file.random.whole(0, 1000)).then(() => cancel(file)),
    patchPart(laneOf(file, first!), 0),
    ...others.map((lane) => sendLane(file, lane, kind)),
  ])
  return outcome
}

type Offset = { at: number; complete: boolean; isInLanes: boolean }

async function head(upload: Upload): Promise<'gone' | Offset> {
  const { site, source } = upload
  const reply = await persist(site, `HEAD of ${source.name}`, async () => {
    const got = await authorized(upload, { method: 'HEAD', url: upload.address })
    return got?.status === 200 || isGone(site, got) ? got! : later(site, 'HEAD', got, [423])
  })
  if (reply.status !== 200) return 'gone'
  const at = Number(reply.headers['upload-offset'])
  if (at < upload.known)
    site.log.violation(`${source.name} ${upload.address}: the offset went back from ${upload.known} to ${at}`)
  upload.known = at
  const complete = at === source.bytes.length && reply.headers['upload-length'] !== undefined
  return { at, complete, isInLanes: reply.headers['upload-lanes'] !== undefined }
}

const isGone = (site: Site, got: Reply | undefined) =>
  got?.status === 410 || (site.mayLoseCommits === true && got?.status === 404)

async function patches(upload: Upload, at: number, kind: Kind): Promise<void> {
  const { random, source } = upload
  const rest = source.bytes.length - at
  const count = random.chance(0.5) ? rest : Math.min(rest, random.whole(1, random.pick([MIB, 6 * MIB])))
  const last: Record<string, string> =
    kind.deferred && count === rest ? { 'Upload-Length': String(source.bytes.length) } : {}
  const once = () => patch(upload, at, count, last)
  if (!kind.contended || random.chance(0.7)) return once()
  upload.site.log.count('contentions')
  await Promise.all([once(), sleep(random.whole(0, 300)).then(once)])
}

async function patch(upload: Upload, at: number, count: number, more: Record<string, string>): Promise<void> {
  const { site, random, source } = upload
  const body = source.bytes.subarray(at, at + count)
  const sum = random.chance(0.15) ? checksum(body, random.chance(0.2)) : undefined
  const got = await authorized(upload, {
    method: 'PATCH',
    url: upload.address,
    headers: {
      ...OCTETS,
      'Upload-Offset': String(at),
      ...more,
      ...(sum && { 'Upload-Checksum': sum.header }),
    },
    body,
    cutAfter: cut(random, body),
  })
  if (got?.status === 204) {
    const now = Number(got.headers['upload-offset'])
    if (now !== at + count || sum?.wrong)
      site.log.violation(`${source.name}: PATCH of ${count} bytes at ${at} returned the offset ${now}`)
    upload.known = Math.max(upload.known, now)
  } else if (!(got?.status === 460 && sum?.wrong) && !isGone(site, got))
    await later(site, 'PATCH', got, [409, 423, 502, 503])
}

/** Sends some of the missing bytes, but not the last one, so that the upload can still be canceled. */
async function patchPart(upload: Upload, at: number): Promise<void> {
  const most = upload.source.bytes.length - at - 1
  if (most > 0) await patch(upload, at, upload.random.whole(1, most), {})
}

function checksum(body: Uint8Array, wrong: boolean): { header: string; wrong: boolean } {
  const hash = createHash('sha1').update(body)
  if (wrong) hash.update('x')
  return { header: `sha1 ${hash.digest('base64')}`, wrong }
}

async function cancel(upload: Upload): Promise<Outcome> {
  const { site, source, address } = upload
  await persist(site, `canceling ${source.name}`, async () => {
    const got = await authorized(upload, { method: 'DELETE', url: address })
    return got?.status === 204 || got?.status === 410 ? got : later(site, 'DELETE', got, [409, 423, 503])
  })
  site.log.count('cancellations')
  return { source, address, end: 'canceled' }
}

/** Sends a request with the upload's current token or, occasionally, with a new one, as a reloaded page would. */
async function authorized(upload: Upload, call: Call): Promise<Reply | undefined> {
  const { site, random, pipeId } = upload
  if (upload.token === '' || random.chance(0.1)) upload.token = await newToken(site, pipeId)
  const got = await send({
    ...call,
    headers: { ...COMMON, Authorization: `Bearer ${upload.token}`, ...call.headers },
  })
  if (got?.status !== 401 || !site.mayLoseCommits) return got
  upload.token = ''
  return undefined
}

function cut(random: Random, body: Uint8Array): number | undefined {
  return body.length > 0 && random.chance(0.25) ? random.whole(1, body.length) : undefined
}

/** Reports a server fault for anything except a broken connection or a status that a client may see. */
async function later(
  { log }: Site,
  what: string,
  got: Reply | undefined,
  allowed: number[],
): Promise<undefined> {
  if (got === undefined) log.count('broken connections')
  else if (allowed.includes(got.status)) log.count(`${what} responses with ${got.status}`)
  else log.violation(`${what} returned ${got.status}: ${got.body}`)
  await sleep(100)
}

async function persist<Result>(
  site: Site,
  what: string,
  attempt: () => Promise<Result | undefined>,
): Promise<Result> {
  for (;;) {
    const result = await attempt()
    if (result !== undefined) return result
    if (site.impatient()) throw new Error(`gave up on ${what}`)
  }
}
