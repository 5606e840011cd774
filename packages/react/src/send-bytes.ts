import type { FileChecksum } from './file-checksum.ts'
import { type Answer, type Context, offsetIn, type Requests } from './requests.ts'

type Sending = Pick<Context, 'stopped' | 'transport'> & {
  url: string
  /** The whole file, or a lane of it. */
  blob: Blob
  offset: number
  requests: Requests
  checksum: FileChecksum
  /** Whether the request that ends this blob ends the file, and so declares its checksum. */
  endsFile(): boolean
  onProgress(sentBytes: number): void
  onAnswer(answer: Answer): void
}

export const OFFSET_STREAM = { 'Content-Type': 'application/offset+octet-stream' }

/**
 * Sends a blob to its address, from the offset. Returns whether the server has all of it: otherwise, a request failed,
 * and the next attempt is due.
 */
export async function sendBytes({
  url,
  blob,
  requests,
  checksum,
  stopped,
  ...way
}: Sending): Promise<boolean> {
  const { chunkBytes = Number.POSITIVE_INFINITY } = way.transport
  for (let { offset } = way; offset < blob.size; ) {
    const from = offset
    const toBytes = checksum.endOfRequest(from, Math.min(from + chunkBytes, blob.size), blob.size)
    const isLast = toBytes === blob.size && way.endsFile()
    const headers = {
      ...OFFSET_STREAM,
      'Upload-Offset': String(from),
      ...(isLast && { 'Repr-Digest': await checksum.field(stopped) }),
    }
    const body = blob.slice(from, toBytes)
    const onProgress = (sentBytes: number) => way.onProgress(from + sentBytes)
    const answer = await requests.send({ method: 'PATCH', url, headers, body, onProgress }, way.onAnswer)
    if (!answer) return false
    const confirmed = offsetIn(answer)
    if (confirmed > from) requests.moved()
    offset = confirmed
    way.onProgress(offset)
  }
  return true
}
