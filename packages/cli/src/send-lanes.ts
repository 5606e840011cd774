import { Connections } from '../../react/src/connections.ts'
import { Failure, readRange } from './command.ts'
import type { FileChecksum, LocalFile } from './send-file.ts'
import { type Answer, send, startOfLast } from './tus.ts'

/** A range of the file with an address of its own. */
type Lane = { url: string; firstByte: number; length: number; offset: number }

type Sending = {
  file: LocalFile
  checksum: FileChecksum
  token: string
  /** The most connections at once. */
  connections: number
  onProgress(bytes: number): void
}

/** A file's lanes that are incomplete, or the server's refusal. */
export async function incompleteLanes(url: string, token: string): Promise<Lane[] | Answer> {
  const answer = await send({ method: 'GET', url, token })
  if (answer.status !== 200) return answer
  const { lanes }: { lanes: Lane[] } = JSON.parse(answer.text)
  return lanes.filter(({ offset, length }) => offset < length)
}

/**
 * Sends the lanes of a file over as many connections as make it faster. Returns what stopped it, if anything; the lanes
 * that were under way still end first.
 */
export async function sendLanes(lanes: Lane[], sending: Sending): Promise<Answer | undefined> {
  const { file, checksum, onProgress } = sending
  const connections = new Connections(sending.connections)
  const waiting = [...lanes]
  let unfinished = lanes.length
  // Nobody waits for the checksum before the file's last request.
  void checksum.whole().catch(() => {})
  const declaration = async (): Promise<Record<string, string>> => {
    unfinished -= 1
    return unfinished === 0 ? { 'Repr-Digest': await checksum.whole() } : {}
  }
  const underWay = new Set<Promise<void>>()
  const missing = lanes.reduce((sum, { length, offset }) => sum + length - offset, 0)
  let sent = file.size - missing
  let refusal: Answer | undefined
  let fault: unknown
  const onBytes = (chunk: Buffer) => {
    sent += chunk.length
    onProgress(Math.min(sent, file.size))
    connections.sent(chunk.length, underWay.size, performance.now())
    startMore()
  }
  const startMore = () => {
    while (waiting.length > 0 && underWay.size < connections.limit && !refusal && !fault) {
      const working = sendLane(waiting.shift()!, { ...sending, onBytes, declaration })
        .then((answer) => {
          if (answer && [429, 503].includes(answer.status)) connections.refused(performance.now())
          refusal ??= answer
        })
        .catch((error: unknown) => {
          fault ??= error
        })
        .finally(() => {
          underWay.delete(working)
          startMore()
        })
      underWay.add(working)
    }
  }
  startMore()
  while (underWay.size > 0) await Promise.race(underWay)
  if (fault) throw fault
  return refusal
}

type SendingLane = Pick<Sending, 'file' | 'token'> & {
  onBytes(chunk: Buffer): void
  declaration(): Promise<Record<string, string>>
}

async function sendLane(
  { url, firstByte, length, offset }: Lane,
  { file, token, onBytes, declaration }: SendingLane,
): Promise<Answer | undefined> {
  // The last request of all lanes declares the checksum of the file.
  const lastBytes = startOfLast(length)
  let start = offset
  while (start < length) {
    const end = start < lastBytes ? lastBytes : length
    const headers = {
      'Upload-Offset': String(start),
      ...(end === length && (await declaration())),
    }
    const chunks = readRange(file.path, firstByte + start, firstByte + end)
    const body = { bytes: end - start, chunks, onBytes }
    const answer = await send({ method: 'PATCH', url, token, headers }, body)
    if (answer.status !== 204) return answer
    const next = Number(answer.headers['upload-offset'])
    if (!(next > start)) throw new Failure(`The server confirmed no bytes after ${start}.`)
    start = next
  }
  return undefined
}
