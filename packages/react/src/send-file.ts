import { textOfBase64, textToBase64 } from './base64.ts'
import { LANES, MIN_BYTES_FOR_LANES } from './connections.ts'
import { failedBy, type Reason } from './failure.ts'
import type { FileChecksum } from './file-checksum.ts'
import type { Transport } from './file-upload.ts'
import { persist } from './persist.ts'
import { type Answer, createRequests, GONE, NATIVE_FETCH, offsetIn } from './requests.ts'
import { OFFSET_STREAM, sendBytes } from './send-bytes.ts'
import { type Lane, type Lines, sendLanes } from './send-lanes.ts'
import type { Tokens } from './tokens.ts'

type Way = {
  file: Blob
  checksum: FileChecksum
  /** The same for each attempt to create this upload, so that it is created once. */
  key: string
  /** `filename`, `filetype`, and so on. */
  metadata: Record<string, string>
  /** Resolves when this list has locked the upload; nothing is sent before. */
  hold: Promise<unknown> | undefined
  /** The address of an upload that continues. */
  url: string | undefined
  tokens: Tokens
  transport: Transport
  lines: Lines
  onUrl(url: string): void
  /** Called if the upload was stopped while it was being created. */
  onLateUrl(url: string): void
  onProgress(sentBytes: number): void
  onWait(reason: Reason): void
  onDone(result: unknown): void
  onFail(reason: Reason): void
}

const LATE_PATIENCE_MS = 60_000
/**
 * Files up to this size take hardly longer than their round trips: each is sent in the request that creates its upload,
 * and one over each connection.
 */
export const SMALL_BYTES = 1024 ** 2

/**
 * Sends a file until it is complete, starting at the server's offset. The returned function stops the upload; after
 * that, only a late URL is reported.
 */
export function sendFile({ key, metadata, hold, lines, ...way }: Way): () => void {
  const { file, checksum, tokens, transport } = way
  const stopping = new AbortController()
  const stopped = stopping.signal
  const unless = <Told extends unknown[]>(act: (...told: Told) => void) => {
    return (...told: Told) => {
      if (!stopped.aborted) act(...told)
    }
  }
  const onProgress = unless((sentBytes: number) => {
    checksum.follow(sentBytes, stopped)
    way.onProgress(sentBytes)
  })
  const context = { tokens, transport, stopped, onWait: unless(way.onWait) }
  const requests = createRequests(context)
  let result: unknown
  let lacksOnlyDecision = false
  let isFirstAttempt = true

  function noteAnswer(answer: Answer, url: string): void {
    result = resultOf(answer) ?? result
    tellAnswer(transport, answer, answer.header('Location') ?? url)
  }

  /** Returns undefined if the creation failed, and the next attempt is due. */
  async function create(): Promise<Found | undefined> {
    const endpoint = await requests.endpoint()
    const divides = lines.connections > 1 && file.size >= MIN_BYTES_FOR_LANES
    const isSmall = file.size <= (transport.chunkBytes ?? SMALL_BYTES)
    // A repeated creation only asks how far the first one came.
    const body = isFirstAttempt && isSmall ? file : undefined
    isFirstAttempt = false
    const headers = {
      'Idempotency-Key': key,
      'Upload-Length': String(file.size),
      'Upload-Metadata': encoded(metadata),
      ...(divides && { 'Upload-Lanes': String(LANES) }),
      ...(body && { ...OFFSET_STREAM, 'Repr-Digest': await checksum.field(stopped) }),
    }
    const creation = { method: 'POST', url: endpoint, headers } as const
    const answer = await requests
      .send({ ...creation, ...(body && { body, onProgress }) }, (told) => noteAnswer(told, endpoint))
      .catch(async (error) => {
        // The upload was stopped, but the server may have some of its bytes.
        if (body && stopped.aborted) {
          const late = { ...context, stopped: AbortSignal.timeout(LATE_PATIENCE_MS), onWait: () => {} }
          const told = await createRequests(late).send(creation)
          if (told) way.onLateUrl(locationOf(told, endpoint))
        }
        throw error
      })
    if (!answer) return undefined
    lacksOnlyDecision = false
    const url = locationOf(answer, endpoint)
    if (stopped.aborted) way.onLateUrl(url)
    stopped.throwIfAborted()
    const offset = Number(answer.header('Upload-Offset') ?? 0)
    return { url, offset, ...(answer.header('Upload-Lanes') && { lanes: answer.body }) }
  }

  /** Returns undefined if the server no longer has the upload, so that it is created again. */
  async function look(url: string): Promise<Found | undefined> {
    const answer = await requests.ask('HEAD', url, file)
    noteAnswer(answer, url)
    if (GONE.includes(answer.status)) return undefined
    return { url, offset: offsetIn(answer), ...(answer.header('Upload-Lanes') && { lanes: '' }) }
  }

  /** Sends what is missing in a file's lanes; the file's own address then tells how it ended. */
  async function sendInLanes(url: string, told: string): Promise<void> {
    const listed = told || (await requests.ask('GET', url)).body
    const { lanes = [] }: { lanes?: Lane[] } = JSON.parse(listed || '{}')
    const onAnswer = (answer: Answer, confirmedBytes: number) =>
      tellAnswer(transport, answer, url, confirmedBytes)
    // The file's last byte asks for a decision.
    lacksOnlyDecision = lanes.every(({ offset, length }) => offset === length)
    if (!lacksOnlyDecision)
      await sendLanes(lanes, { ...context, file, checksum, lines, onProgress, onAnswer })
  }

  /** Returns when the server has every byte. */
  async function send(): Promise<void> {
    await hold
    checksum.follow(0, stopped)
    let { url } = way
    for (;;) {
      stopped.throwIfAborted()
      const found: Found | undefined = url === undefined ? await create() : await look(url)
      url = found?.url
      if (!found) continue
      unless(way.onUrl)(found.url)
      const { offset } = found
      if (offset === file.size) return
      if (found.lanes !== undefined && !lacksOnlyDecision) await sendInLanes(found.url, found.lanes)
      else {
        const sending = { ...context, requests, checksum, onProgress, endsFile: () => true }
        const onAnswer = (answer: Answer) => noteAnswer(answer, found.url)
        if (await sendBytes({ ...sending, url: found.url, blob: file, offset, onAnswer })) return
      }
    }
  }

  send().then(
    unless(() => way.onDone(result)),
    unless((error: Error) => way.onFail(failedBy(error))),
  )
  return () => stopping.abort()
}

const locationOf = (answer: Answer, endpoint: string): string =>
  new URL(answer.header('Location') ?? '', endpoint).href

/** `lanes` is set if the file has lanes: the list of them, or an empty string if it has to be requested. */
type Found = { url: string; offset: number; lanes?: string }

/** Best effort, because an abandoned upload expires after seven days. */
export async function deleteUpload(url: string, tokens: Tokens, transport: Transport): Promise<void> {
  const { fetch = NATIVE_FETCH } = transport
  const ask = async () => {
    const headers = { Authorization: `Bearer ${(await tokens.take()).token}`, 'Tus-Resumable': '1.0.0' }
    const { status } = await fetch(url, { method: 'DELETE', headers })
    // The previous request has not ended yet.
    if (status === 423) throw new TypeError('The upload is busy.')
  }
  await persist(ask, AbortSignal.timeout(LATE_PATIENCE_MS), () => {}).catch(() => undefined)
}

function tellAnswer({ onAnswer }: Transport, answer: Answer, url: string, ofFile?: number): void {
  const offset = Number.parseInt(answer.header('Upload-Offset') ?? '', 10)
  const { method, status } = answer
  onAnswer?.({ method, status, url, offset: ofFile ?? (Number.isNaN(offset) ? undefined : offset) })
}

/** Without empty values, such as the type of a file whose type the browser does not know. */
function encoded(metadata: Record<string, string>): string {
  const given = Object.entries(metadata).filter(([, value]) => value)
  return given.map(([key, value]) => `${key} ${textToBase64(value)}`).join(',')
}

/** The result is JSON as base64url, so that a header can contain any of its characters. */
function resultOf({ header }: Answer): unknown {
  const told = header('Sluice-Result')
  return told && JSON.parse(textOfBase64(told))
}
