import { Upload } from 'tus-js-client'
import { LANES, MIN_BYTES_FOR_LANES } from './connections.ts'
import { reasonOfError } from './failure.ts'
import type { FileChecksum } from './file-checksum.ts'
import type { Transport } from './file-upload.ts'
import type { TusRequest, TusResponse } from './keep-going.ts'
import { persist } from './persist.ts'
import { type Lane, type Lines, sendLanes } from './send-lanes.ts'
import type { Tokens } from './tokens.ts'
import { NATIVE_FETCH, offsetIn, tusOptions } from './tus-options.ts'

type Way = {
  file: Blob
  checksum: FileChecksum
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
  onWait(reason: string): void
  onDone(result: unknown): void
  onFail(reason: string): void
}

const DELETE_PATIENCE_MS = 60_000

/**
 * Sends a file until it is complete, starting at the server's offset. The returned function stops the upload; after
 * that, only a late URL is reported.
 */
export function sendFile({ metadata, hold, url, lines, ...way }: Way): () => void {
  const { file, checksum, tokens, transport } = way
  const stopping = new AbortController()
  const stopped = stopping.signal
  const unless = <Told extends unknown[]>(act: (...told: Told) => void) => {
    return (...told: Told) => {
      if (!stopped.aborted) act(...told)
    }
  }
  const fail = unless((error: Error) => way.onFail(reasonOfError(error)))
  const onWait = unless(way.onWait)
  const onProgress = unless((sentBytes: number) => {
    checksum.follow(sentBytes, stopped)
    way.onProgress(sentBytes)
  })
  const sending = { checksum, tokens, transport, stopped, onWait }
  const { endpoint, list, options } = tusOptions({ ...sending, blob: file, endsFile: () => true })

  // A creation that was sent may have succeeded, so its response is awaited even if the upload is stopped.
  let isCreating = false
  let result: unknown
  let lacksOnlyDecision = false
  // Set if the last response was that of a file with lanes that lacks bytes.
  let divided: TusResponse | undefined

  async function begin(): Promise<void> {
    await hold
    checksum.follow(0, stopped)
    const upload = new Upload(file, {
      ...options,
      endpoint: await endpoint(stopped),
      uploadUrl: url ?? null,
      metadata,
      async onBeforeRequest(request) {
        const isCreation = request.getMethod() === 'POST'
        if (isCreation && lines.connections > 1 && file.size >= MIN_BYTES_FOR_LANES)
          request.setHeader('Upload-Lanes', String(LANES))
        await options.onBeforeRequest(request)
        isCreating = isCreation
      },
      onAfterResponse(request, response) {
        result = resultOf(response) ?? result
        const isNew = request.getMethod() === 'POST'
        const lacksBytes = offsetIn(response) !== file.size && (isNew || !lacksOnlyDecision)
        divided = response.getHeader('Upload-Lanes') && lacksBytes ? response : undefined
        tellAnswer(transport, request, response)
      },
      onUploadUrlAvailable() {
        if (stopped.aborted) {
          void upload.abort()
          if (isCreating) way.onLateUrl(upload.url!)
          return
        }
        way.onUrl(upload.url!)
        if (!divided) return
        void upload.abort()
        goOnInLanes(upload, divided).catch(fail)
      },
      onProgress,
      onSuccess: unless(() => way.onDone(result)),
      onError: fail,
    })
    stopped.addEventListener('abort', () => {
      if (!isCreating) void upload.abort()
    })
    upload.start()
  }

  /** Sends what is missing in a file's lanes; the file's own address then tells how it ended. */
  async function goOnInLanes(upload: Upload, response: TusResponse): Promise<void> {
    const fileUrl = upload.url!
    const listed = response.getBody() || (await list(fileUrl, stopped))
    const { lanes = [] }: { lanes?: Lane[] } = JSON.parse(listed || '{}')
    const onAnswer = (request: TusRequest, answer: TusResponse, confirmedBytes: number) =>
      tellAnswer(transport, request, answer, { url: fileUrl, offset: confirmedBytes })
    // The file's last byte asks for a decision.
    lacksOnlyDecision = lanes.every(({ offset, length }) => offset === length)
    if (!lacksOnlyDecision) await sendLanes(lanes, { ...sending, file, lines, onProgress, onAnswer })
    if (!stopped.aborted) upload.start()
  }

  begin().catch(fail)
  return () => stopping.abort()
}

/** Best effort, because an abandoned upload expires after seven days. */
export async function deleteUpload(url: string, tokens: Tokens, transport: Transport): Promise<void> {
  const { fetch = NATIVE_FETCH } = transport
  const ask = async () => {
    const headers = { Authorization: `Bearer ${(await tokens.take()).token}`, 'Tus-Resumable': '1.0.0' }
    const { status } = await fetch(url, { method: 'DELETE', headers })
    // The previous request has not ended yet.
    if (status === 423) throw new TypeError('The upload is busy.')
  }
  await persist(ask, AbortSignal.timeout(DELETE_PATIENCE_MS), () => {}).catch(() => undefined)
}

function tellAnswer(
  { onAnswer }: Transport,
  request: TusRequest,
  response: TusResponse,
  ofFile?: { url: string; offset: number },
): void {
  const url = response.getHeader('Location') ?? request.getURL()
  onAnswer?.({
    method: request.getMethod(),
    status: response.getStatus(),
    url,
    offset: offsetIn(response),
    ...ofFile,
  })
}

/** The result is JSON as base64url, so that a header can contain any of its characters. */
function resultOf(response: TusResponse): unknown {
  const header = response.getHeader('Sluice-Result')
  if (!header) return undefined
  const bytes = Uint8Array.from(atob(header.replaceAll('-', '+').replaceAll('_', '/')), (char) =>
    char.charCodeAt(0),
  )
  return JSON.parse(new TextDecoder().decode(bytes))
}
