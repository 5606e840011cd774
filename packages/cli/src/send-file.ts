import { basename } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import { SluiceError } from '../../node/src/sluice-error.ts'
import { LANES, MIN_BYTES_FOR_LANES } from '../../react/src/connections.ts'
import { Failure, readRange } from './command.ts'
import type { Journal } from './journal.ts'
import { incompleteLanes, sendLanes } from './send-lanes.ts'
import { type Answer, send, startOfLast } from './tus.ts'
import { typeOfName } from './type-of-name.ts'
import type { Tokens } from './upload-token.ts'

/** `relativePath` is set for a file in a given folder, and includes that folder. */
export type LocalFile = {
  path: string
  relativePath?: string
  name: string
  size: number
  modifiedMs: number
}
type Way = {
  key: string
  tokens: Tokens
  journal: Journal
  /** The most connections for this file. */
  connections: number
  /** Called with the number of bytes that have been sent, including those not yet confirmed. */
  onProgress(bytes: number): void
  onWait(reason: string): void
  /** Called with the result that the owner's backend returned for the finished file. */
  onResult(result: unknown): void
}

const FIRST_DELAY_MS = 500
const MAX_DELAY_MS = 30_000
const MAX_REFUSED_TOKENS = 4
/** Files up to this size are read into memory and sent in the request that creates their upload. */
const SMALL_BYTES = 8 * 1024 * 1024
const PASSING = [408, 409, 423, 425, 429]
const GONE = [404, 410]
const CHECKSUM_MISMATCH = 460

/** Continues until the last byte is confirmed or the upload is permanently refused. Returns the upload's address. */
export async function sendFile(file: LocalFile, way: Way): Promise<string> {
  const checksum = new FileChecksum(file)
  let refusedTokens = 0
  for (let failures = 0; ; failures++) {
    const before = way.journal.urlOf(way.key)
    try {
      const { token, uploadUrl } = await way.tokens.take()
      const answer = before
        ? await goOn({ ...way, file, checksum, url: before, token })
        : await begin({ ...way, file, checksum, url: uploadUrl, token })
      if (answer === 'sent') return way.journal.urlOf(way.key)!
      if (answer === 'further') {
        failures = -1
        continue
      }
      if (answer.status === 401) way.tokens.refuse(token)
      refusedTokens = answer.status === 401 ? refusedTokens + 1 : 0
      if (isLasting(answer, refusedTokens)) {
        // The next run asks again, rather than for what became of this request.
        if (!before) way.journal.startOver(way.key)
        throw new Failure(`${answer.status} ${answer.detail}`.trim())
      }
      way.onWait(`The server responded with ${answer.status}`)
    } catch (error) {
      if (error instanceof Failure || isRefused(error)) throw error
      way.onWait((error as Error).message)
    }
    await sleep(Math.min(FIRST_DELAY_MS * 2 ** failures, MAX_DELAY_MS))
  }
}

type Step = 'sent' | 'further' | Answer

type Upload = Pick<Way, 'key' | 'journal' | 'connections' | 'onProgress' | 'onResult'> & {
  file: LocalFile
  checksum: FileChecksum
  url: string
  token: string
}

async function begin({ file, checksum, url, token, ...way }: Upload): Promise<Step> {
  // A repeated creation only asks how far the first one came.
  const known = way.journal.keyOf(way.key)
  const content = file.size <= SMALL_BYTES && !known ? await readWhole(file, checksum) : undefined
  const filetype = typeOfName(file.name)
  const pairs = {
    filename: file.name,
    ...(filetype && { filetype }),
    ...(file.relativePath && { relativePath: file.relativePath }),
  }
  const metadata = Object.entries(pairs)
    .map(([name, value]) => `${name} ${Buffer.from(value).toString('base64')}`)
    .join(',')
  const headers = {
    'Upload-Length': String(file.size),
    'Upload-Metadata': metadata,
    'Idempotency-Key': known ?? way.journal.create(way.key),
    ...(content && { 'Repr-Digest': await checksum.field() }),
    ...(way.connections > 1 && file.size >= MIN_BYTES_FOR_LANES && { 'Upload-Lanes': String(LANES) }),
  }
  const body = content && { bytes: file.size, chunks: content, onBytes: countFrom(0, way) }
  const answer = await send({ method: 'POST', url, token, headers }, body)
  if (answer.status !== 201) return answer
  noteResult(answer, way)
  way.journal.begin(way.key, new URL(answer.headers.location!, url).href)
  const offset = Number(answer.headers['upload-offset'] ?? 0)
  return offset === file.size ? 'sent' : 'further'
}

async function goOn({ file, checksum, url, token, ...way }: Upload): Promise<Step> {
  const head = await send({ method: 'HEAD', url, token })
  if (GONE.includes(head.status)) {
    way.journal.startOver(way.key)
    throw new Failure(
      `The upload of ${basename(file.path)} no longer exists; run this again to upload it from the start.`,
    )
  }
  if (head.status !== 200) return head
  noteResult(head, way)
  const length = head.headers['upload-length']
  if (length !== undefined && Number(length) !== file.size)
    throw new Failure(`The upload is for a file of ${length} bytes, but this one has ${file.size}.`)
  let start = Number(head.headers['upload-offset'])
  if (head.headers['upload-lanes'] && start < file.size) {
    const lanes = await incompleteLanes(url, token)
    if (!Array.isArray(lanes)) return lanes
    // Without incomplete lanes, only a decision is missing, which the last byte asks for.
    if (lanes.length > 0) {
      const refusal = await sendLanes(lanes, { ...way, file, checksum, token })
      if (refusal?.status === CHECKSUM_MISMATCH) way.journal.startOver(way.key)
      return refusal ?? 'further'
    }
  }
  // The checksum of bytes sent by an earlier run is computed while the rest is sent.
  if (start > 0) checksum.field().catch(() => undefined)
  // The backend that created the upload may not have declared its length.
  let isDeclared = length !== undefined
  while (start < file.size || !isDeclared) {
    const end = checksum.endOfRequest(start)
    const headers = {
      'Upload-Offset': String(start),
      ...(!isDeclared && { 'Upload-Length': String(file.size) }),
      ...(end === file.size && { 'Repr-Digest': await checksum.field() }),
    }
    const chunks = readRange(file.path, start, end)
    const body = { bytes: end - start, chunks, onBytes: countFrom(start, { ...way, checksum }) }
    const answer = await send({ method: 'PATCH', url, token, headers }, body)
    // The upload has failed, so the next run sends the file from the start.
    if (answer.status === CHECKSUM_MISMATCH) way.journal.startOver(way.key)
    if (answer.status !== 204) return answer
    noteResult(answer, way)
    isDeclared = true
    start = Number(answer.headers['upload-offset'])
  }
  return 'sent'
}

type Counting = Pick<Way, 'onProgress'> & { checksum?: FileChecksum }

/** Reads a file once, for both its checksum and the request. */
async function readWhole({ path, size }: LocalFile, checksum: FileChecksum): Promise<Buffer[]> {
  const chunks: Buffer[] = []
  let positionBytes = 0
  for await (const chunk of readRange(path, 0, size)) {
    checksum.add(positionBytes, chunk)
    positionBytes += chunk.length
    chunks.push(chunk)
  }
  return chunks
}

/** Counts the bytes of a request that starts at `start`. */
function countFrom(start: number, { onProgress, checksum }: Counting): (chunk: Buffer) => void {
  let sent = start
  onProgress(sent)
  return (chunk) => {
    checksum?.add(sent, chunk)
    sent += chunk.length
    onProgress(sent)
  }
}

function noteResult({ headers }: Answer, way: Pick<Way, 'onResult'>): void {
  const header = headers['sluice-result']
  if (typeof header === 'string') way.onResult(JSON.parse(Buffer.from(header, 'base64url').toString()))
}

function isLasting({ status }: Answer, refusedTokens: number): boolean {
  if (status === 401) return refusedTokens >= MAX_REFUSED_TOKENS
  return status < 500 && !PASSING.includes(status)
}

/** The backend refuses to issue a token, so a retry would not help. */
const isRefused = (error: unknown) =>
  error instanceof SluiceError && error.status !== undefined && error.status < 500 && error.status !== 429

/**
 * An entire file's CRC32, which the server compares with the bytes received. It is computed from the bytes as they
 * are sent. Bytes sent by an earlier run are read again, as are those of the last request, which declares the checksum.
 */
export class FileChecksum {
  readonly #path: string
  readonly #size: number
  #bytes = 0
  #crc32 = 0

  constructor({ path, size }: { path: string; size: number }) {
    this.#path = path
    this.#size = size
  }

  /**
   * Where a request that starts at `startBytes` must end: before the last bytes, unless it starts there or the checksum
   * is known.
   */
  endOfRequest(startBytes: number): number {
    const lastBytes = startOfLast(this.#size)
    const isKnown = this.#bytes === this.#size
    return isKnown || startBytes >= lastBytes ? this.#size : lastBytes
  }

  /** Adds the next bytes to the checksum, if the chunk contains them. */
  add(positionBytes: number, chunk: Buffer): void {
    const known = this.#bytes - positionBytes
    if (known < 0 || known >= chunk.length) return
    this.#crc32 = crc32(chunk.subarray(known), this.#crc32)
    this.#bytes += chunk.length - known
  }

  #whole: Promise<string> | undefined

  /** Like `field`, for several requests that need the value at the same time. */
  whole(): Promise<string> {
    this.#whole ??= this.field()
    return this.#whole
  }

  /** The value of the `Repr-Digest` header. */
  async field(): Promise<string> {
    let positionBytes = this.#bytes
    for await (const chunk of readRange(this.#path, positionBytes, this.#size)) {
      this.add(positionBytes, chunk)
      positionBytes += chunk.length
    }
    const crc = Buffer.alloc(4)
    crc.writeUInt32BE(this.#crc32)
    return `crc32=:${crc.toString('base64')}:`
  }
}
