import { Connections } from './connections.ts'
import type { FileChecksum } from './file-checksum.ts'
import { type Answer, type Context, createRequests, GONE, offsetIn } from './requests.ts'
import { sendBytes } from './send-bytes.ts'

/** A range of the file with an address of its own. */
export type Lane = { url: string; firstByte: number; length: number; offset: number }

/** How many connections the page's uploads use together, and how many of them are one file's share now. */
export type Lines = { connections: number; share(): number }

type Sending = Context & {
  file: Blob
  checksum: FileChecksum
  lines: Lines
  onProgress(sentBytes: number): void
  /** Called with each response and the bytes confirmed in all lanes. */
  onAnswer(answer: Answer, confirmedBytes: number): void
}

/**
 * Sends the lanes of a file over as many connections as make it faster. Resolves when all are complete, or as soon as
 * the server no longer has the file.
 */
export async function sendLanes(
  lanes: readonly Lane[],
  { lines, stopped, onProgress, onAnswer, ...sending }: Sending,
): Promise<void> {
  const connections = new Connections(lines.connections)
  const waiting = lanes.filter(({ offset, length }) => offset < length)
  const unfinished = waiting.length
  const ending = new Set<Lane>()
  const sent = new Map(lanes.map((lane) => [lane, lane.offset]))
  const confirmed = new Map(sent)
  const ended = new AbortController()
  const end = () => ended.abort()
  stopped.addEventListener('abort', end)

  function sendNext(): Promise<boolean> {
    const lane = waiting.shift()!
    return sendLane(lane, {
      ...sending,
      stopped: ended.signal,
      endsFile: () => ending.add(lane).size === unfinished,
      onProgress(sentBytes) {
        const more = Math.max(0, sentBytes - sent.get(lane)!)
        sent.set(lane, sentBytes)
        onProgress(sumOf(sent))
        connections.sent(more, underWay, performance.now())
        fill()
      },
      onAnswer(answer) {
        if (BUSY.includes(answer.status)) connections.refused(performance.now())
        if (answer.header('Upload-Offset')) confirmed.set(lane, offsetIn(answer))
        onAnswer(answer, sumOf(confirmed))
      },
    })
  }

  let underWay = 0
  let fill = () => {}
  const all = new Promise<void>((resolve, reject) => {
    fill = () => {
      while (waiting.length > 0 && underWay < Math.min(connections.limit, lines.share())) {
        underWay += 1
        sendNext().then((has) => {
          underWay -= 1
          if (has) fill()
          else resolve()
        }, reject)
      }
      if (underWay === 0) resolve()
    }
    fill()
  })
  await all.finally(end)
}

/** The server has too much to do. */
const BUSY = [429, 503]

const sumOf = (bytes: ReadonlyMap<Lane, number>) => [...bytes.values()].reduce((sum, of) => sum + of, 0)

type SendingLane = Omit<Sending, 'lines' | 'onAnswer'> & {
  endsFile(): boolean
  onAnswer(answer: Answer): void
}

/** Returns whether the server has the lane's bytes: otherwise, it no longer has the file. */
async function sendLane({ url, firstByte, length, offset }: Lane, { file, ...sending }: SendingLane) {
  const blob = file.slice(firstByte, firstByte + length)
  const requests = createRequests(sending)
  let from = offset
  while (!(await sendBytes({ ...sending, requests, url, blob, offset: from }))) {
    const answer = await requests.ask('HEAD', url, blob)
    if (GONE.includes(answer.status)) return false
    sending.onAnswer(answer)
    from = offsetIn(answer)
  }
  return true
}
