import { defaultOptions, Upload } from 'tus-js-client'
import { tellFailure } from './failure.ts'
import type { FileChecksum } from './file-checksum.ts'
import type { Transport } from './file-upload.ts'
import { keepGoing, type TusResponse } from './keep-going.ts'
import { persist } from './persist.ts'
import type { Tokens } from './tokens.ts'

type Way = {
  file: File
  checksum: FileChecksum
  /** The file's path in a folder, including its name. */
  path: string | undefined
  batch: string | undefined
  /** Resolves when this list has locked the upload; nothing is sent before. */
  hold: Promise<unknown> | undefined
  /** The address of an upload that continues. */
  url: string | undefined
  tokens: Tokens
  transport: Transport
  onUrl(url: string): void
  /** Called if the upload was stopped while it was being created. */
  onLateUrl(url: string): void
  onProgress(sentBytes: number): void
  onWait(reason: string): void
  onDone(result: unknown): void
  onFail(reason: string): void
}

const SENDING = ['POST', 'PATCH']
const DELETE_PATIENCE_MS = 60_000
const NATIVE_FETCH: typeof fetch = (...args) => globalThis.fetch(...args)

/**
 * Sends a file until it is complete, starting at the server's offset. The returned function stops the upload; after
 * that, only a late URL is reported.
 */
export function sendFile({
  file,
  checksum,
  path,
  batch,
  hold,
  url,
  tokens,
  transport,
  ...tell
}: Way): () => void {
  const stopped = new AbortController()
  const unless = <Told extends unknown[]>(act: (...told: Told) => void) => {
    return (...told: Told) => {
      if (!stopped.signal.aborted) act(...told)
    }
  }
  const fail = unless((error: Error) => tell.onFail(reasonOfFailure(error)))
  const { fetch = NATIVE_FETCH, beforeSend, chunkBytes = Number.POSITIVE_INFINITY } = transport
  const { retryDelays, onShouldRetry, onBeforeRequest, endpoint } = keepGoing({
    tokens,
    tell: unless(tell.onWait),
    fetch,
    beforeSend,
  })

  // Whether the next request completes the file. This is set before the request is sent.
  let completes = file.size === 0
  const fileReader = readerOf(checksum, (endBytes) => {
    completes = endBytes === file.size
  })
  // A creation that was sent may have succeeded, so its response is awaited even if the upload is stopped.
  let isCreating = false
  let result: unknown

  async function begin(): Promise<void> {
    await hold
    checksum.follow(0, stopped.signal)
    const upload = new Upload(file, {
      endpoint: await endpoint(stopped.signal),
      uploadUrl: url ?? null,
      storeFingerprintForResuming: false,
      metadata: {
        filename: file.name,
        filetype: file.type,
        ...(path && { relativePath: path }),
        ...(batch && { batch }),
      },
      chunkSize: chunkBytes,
      fileReader,
      retryDelays,
      onShouldRetry: (error, attempt) => !stopped.signal.aborted && onShouldRetry(error, attempt),
      async onBeforeRequest(request) {
        if (completes && SENDING.includes(request.getMethod()))
          request.setHeader('Repr-Digest', await checksum.field(stopped.signal))
        // tus-js-client continues even if the upload is stopped while the client is starting, so this waits forever to
        // prevent the request.
        if (stopped.signal.aborted) await new Promise(() => {})
        await onBeforeRequest(request, { data: file })
        isCreating = request.getMethod() === 'POST'
      },
      onAfterResponse(request, response) {
        result = resultOf(response) ?? result
        tellAnswer(transport, request, response)
      },
      onUploadUrlAvailable() {
        if (!stopped.signal.aborted) return tell.onUrl(upload.url!)
        void upload.abort()
        if (isCreating) tell.onLateUrl(upload.url!)
      },
      onProgress: unless((sentBytes) => {
        checksum.follow(sentBytes, stopped.signal)
        tell.onProgress(sentBytes)
      }),
      onSuccess: unless(() => tell.onDone(result)),
      onError: fail,
    })
    stopped.signal.addEventListener('abort', () => {
      if (!isCreating) void upload.abort()
    })
    upload.start()
  }
  begin().catch(fail)
  return () => stopped.abort()
}

/** The client's body size, except that the last bytes are a separate request until the checksum is known. */
function readerOf(checksum: FileChecksum, tell: (endBytes: number) => void) {
  return {
    async openFile(file: File, chunkSize: number) {
      const source = await defaultOptions.fileReader.openFile(file, chunkSize)
      return {
        size: source.size,
        close: () => source.close(),
        slice(startBytes: number, endBytes: number) {
          const toBytes = checksum.endOfRequest(startBytes, endBytes)
          tell(toBytes)
          return source.slice(startBytes, toBytes)
        },
      }
    },
  }
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
  request: { getMethod(): string; getURL(): string },
  response: TusResponse,
): void {
  const offset = response.getHeader('Upload-Offset')
  onAnswer?.({
    method: request.getMethod(),
    url: response.getHeader('Location') ?? request.getURL(),
    status: response.getStatus(),
    offset: offset === undefined || offset === null ? undefined : Number(offset),
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

function reasonOfFailure(
  error: Error & { originalResponse?: TusResponse | null; causingError?: Error | null },
) {
  return tellFailure(error.causingError?.message || error.message, error.originalResponse?.getBody())
}
