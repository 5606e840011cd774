import { defaultOptions } from 'tus-js-client'
import type { FileChecksum } from './file-checksum.ts'
import type { Transport } from './file-upload.ts'
import { keepGoing, type TusRequest, type TusResponse } from './keep-going.ts'
import type { Tokens } from './tokens.ts'

type Sending = {
  /** The whole file, or a lane of it. */
  blob: Blob
  checksum: FileChecksum
  tokens: Tokens
  transport: Transport
  stopped: AbortSignal
  onWait(reason: string): void
  /** Whether the request that ends this blob ends the file, and so declares its checksum. */
  endsFile(): boolean
}

const SENDING = ['POST', 'PATCH']
export const NATIVE_FETCH: typeof fetch = (...args) => globalThis.fetch(...args)

/** Options for tus-js-client that send a file, or a lane of it, until it is complete. */
export function tusOptions({ blob, checksum, tokens, transport, stopped, onWait, endsFile }: Sending) {
  const { fetch = NATIVE_FETCH, beforeSend, chunkBytes = Number.POSITIVE_INFINITY } = transport
  const going = keepGoing({ tokens, tell: onWait, fetch, beforeSend })
  // Whether the next request is the last one. This is set before the request is sent.
  let isLast = blob.size === 0
  return {
    endpoint: going.endpoint,
    list: going.list,
    options: {
      storeFingerprintForResuming: false,
      chunkSize: chunkBytes,
      fileReader: readerOf(checksum, (endBytes) => {
        isLast = endBytes === blob.size
      }),
      retryDelays: going.retryDelays,
      onShouldRetry: (error: Error, attempt: number) =>
        !stopped.aborted && going.onShouldRetry(error, attempt),
      async onBeforeRequest(request: TusRequest) {
        if (isLast && SENDING.includes(request.getMethod()) && endsFile())
          request.setHeader('Repr-Digest', await checksum.field(stopped))
        // tus-js-client continues even if the upload is stopped while the client is starting, so this waits forever to
        // prevent the request.
        if (stopped.aborted) await new Promise(() => {})
        await going.onBeforeRequest(request, { data: blob })
      },
    },
  }
}

/** The client's body size, except that the last bytes are a separate request until the checksum is known. */
function readerOf(checksum: FileChecksum, tell: (endBytes: number) => void) {
  return {
    async openFile(file: Blob, chunkSize: number) {
      const source = await defaultOptions.fileReader.openFile(file, chunkSize)
      return {
        size: source.size,
        close: () => source.close(),
        slice(startBytes: number, endBytes: number) {
          const toBytes = checksum.endOfRequest(startBytes, endBytes, file.size)
          tell(toBytes)
          return source.slice(startBytes, toBytes)
        },
      }
    },
  }
}

export function offsetIn(response: TusResponse): number | undefined {
  const offset = response.getHeader('Upload-Offset')
  return offset === undefined || offset === null ? undefined : Number(offset)
}
