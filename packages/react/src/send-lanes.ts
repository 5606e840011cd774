import { Upload } from 'tus-js-client'
import { Connections } from './connections.ts'
import { reasonOfError } from './failure.ts'
import type { FileChecksum } from './file-checksum.ts'
import type { Transport } from './file-upload.ts'
import { GONE, type TusError, type TusRequest, type TusResponse, toTusResponse } from './keep-going.ts'
import type { Tokens } from './tokens.ts'
import { offsetIn, tusOptions } from './tus-options.ts'

/** A range of the file with an address of its own. */
export type Lane = { url: string; firstByte: number; length: number; offset: number }

/** How many connections the page's uploads use together, and how many of them are one file's share now. */
export type Lines = { connections: number; share(): number }

type Sending = {
  file: Blob
  checksum: FileChecksum
  tokens: Tokens
  transport: Transport
  lines: Lines
  stopped: AbortSignal
  onProgress(sentBytes: number): void
  onWait(reason: string): void
  /** Called with each response and the bytes confirmed in all lanes. */
  onAnswer(request: TusRequest, response: TusResponse, confirmedBytes: number): void
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

  function sendNext(): Promise<unknown> {
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
      onAnswer(request, response) {
        if (BUSY.includes(response.getStatus())) connections.refused(performance.now())
        confirmed.set(lane, offsetIn(response) ?? confirmed.get(lane)!)
        onAnswer(request, response, sumOf(confirmed))
      },
    })
  }

  let underWay = 0
  let fill = () => {}
  const all = new Promise<void>((resolve, reject) => {
    fill = () => {
      while (waiting.length > 0 && underWay < Math.min(connections.limit, lines.share())) {
        underWay += 1
        sendNext().then(() => {
          underWay -= 1
          fill()
        }, reject)
      }
      if (underWay === 0) resolve()
    }
    fill()
  })
  try {
    await all
  } catch (error) {
    const { originalRequest, originalResponse } = error as TusError
    const isGone =
      originalRequest?.getMethod() === 'HEAD' && GONE.includes(originalResponse?.getStatus() ?? 0)
    // Aborting the lanes also empties their responses.
    if (!isGone) throw new Error(reasonOfError(error as TusError))
  } finally {
    end()
  }
}

/** The server has too much to do. */
const BUSY = [429, 503]

const sumOf = (bytes: ReadonlyMap<Lane, number>) => [...bytes.values()].reduce((sum, of) => sum + of, 0)

type SendingLane = Omit<Sending, 'lines' | 'onAnswer'> & {
  endsFile(): boolean
  onAnswer(request: TusRequest, response: TusResponse): void
}

function sendLane(
  { url, firstByte, length, offset }: Lane,
  { file, onProgress, onAnswer, ...sending }: SendingLane,
) {
  const blob = file.slice(firstByte, firstByte + length)
  const { options } = tusOptions({ blob, ...sending })
  // The list of lanes has told the offset, so the client's first request, which asks for it, is not sent.
  let known: TusResponse | undefined = toTusResponse(
    new Response(null, { headers: { 'Upload-Offset': String(offset), 'Upload-Length': String(length) } }),
  )
  return new Promise<unknown>((resolve, reject) => {
    const upload = new Upload(blob, {
      ...options,
      uploadUrl: url,
      async onBeforeRequest(request) {
        if (!known) return options.onBeforeRequest(request)
        const answer = known
        request.send = async () => answer
      },
      onAfterResponse(request, response) {
        if (known) known = undefined
        else onAnswer(request, response)
      },
      onProgress,
      onSuccess: resolve,
      onError: reject,
    })
    sending.stopped.addEventListener('abort', () => void upload.abort())
    upload.start()
  })
}
