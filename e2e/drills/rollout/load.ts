import { randomBytes } from 'node:crypto'
import { type DetailedError, Upload } from 'tus-js-client'
import type { Stage } from '../stage.ts'

/** What clients using tus-js-client saw while they sent one file after another until stopped. */
export type Seen = {
  sources: Map<string, Buffer>
  /** Errors that ended an upload. */
  errors: string[]
  /** Errors after which the client retried automatically. */
  repeated: Map<string, number>
}
export type Client = { chunkBytes: number; fileBytes: number }

const RETRY_DELAYS = [0, 1000, 3000, 5000, 5000, 5000]

export async function sendUntil(
  stage: Stage,
  clients: readonly Client[],
  signal: AbortSignal,
): Promise<Seen> {
  const seen: Seen = { sources: new Map(), errors: [], repeated: new Map() }
  await Promise.all(clients.map((client) => sendFiles(stage, client, { seen, signal })))
  return seen
}

type Watched = { seen: Seen; signal: AbortSignal }

async function sendFiles(
  stage: Stage,
  { chunkBytes, fileBytes }: Client,
  { seen, signal }: Watched,
): Promise<void> {
  while (!signal.aborted) {
    const [name, bytes] = [`${randomBytes(6).toString('hex')}.bin`, randomBytes(fileBytes)]
    seen.sources.set(name, bytes)
    const token = await stage.site.token()
    await new Promise<void>((resolve) => {
      new Upload(bytes, {
        endpoint: stage.uploadUrl,
        headers: { Authorization: `Bearer ${token}` },
        metadata: { filename: name },
        chunkSize: chunkBytes,
        retryDelays: RETRY_DELAYS,
        onShouldRetry: (error) => {
          const what = describe(error as DetailedError, chunkBytes)
          seen.repeated.set(what, (seen.repeated.get(what) ?? 0) + 1)
          return true
        },
        onSuccess: () => resolve(),
        onError: (error) => {
          seen.errors.push(`${name}: ${error.message}`)
          resolve()
        },
      }).start()
    })
  }
}

function describe({ originalRequest, originalResponse }: DetailedError, chunkBytes: number): string {
  const size = Number.isFinite(chunkBytes) ? 'in chunks' : 'in one request'
  return `${originalRequest?.getMethod()} of a file ${size}: ${originalResponse?.getStatus() ?? 'connection closed'}`
}
