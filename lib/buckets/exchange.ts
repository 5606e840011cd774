import { type Agent, type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { setImmediate as nextTurn } from 'node:timers/promises'

/** One HTTP request with a body that lies in memory, and its answer. Neither retries nor judges. */
export type Outgoing = {
  url: URL
  agent: Agent
  method: string
  /** With the encoded query. */
  path: string
  headers: Record<string, string>
  body: readonly Uint8Array[]
  /** What is asked for of an object; every other answer is short. */
  wantedBytes?: number | undefined
  /** No byte in either direction for so long ends it. */
  silenceMs: number
  signal?: AbortSignal | undefined
}

export type Answer = {
  status: number
  headers: IncomingMessage['headers']
  body: Buffer
}

const MAX_ANSWER_BYTES = 1024 * 1024

export function exchange(outgoing: Outgoing): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { url, agent, method, path, headers, silenceMs, signal } = outgoing
    const open = url.protocol === 'https:' ? requestHttps : requestHttp
    const { hostname, port } = url
    const host = hostname.replace(/^\[|\]$/g, '')
    const request = open({ host, port, agent, method, path, headers, signal })
    request.setTimeout(silenceMs, () => request.destroy(timeout(silenceMs)))
    let answered = false
    // An answer stands, whatever becomes of a body that the bucket did not want.
    request.on('error', (error) => answered || reject(error))
    const read = async (response: IncomingMessage) => {
      const answer = await collect(response, outgoing)
      answered = true
      await settle(request)
      return answer
    }
    request.once('response', (response) => read(response).then(resolve, reject))
    send(request, outgoing.body)
  })
}

/** Chunks go out as they are, in one writev: nothing is copied. */
function send(request: ClientRequest, body: readonly Uint8Array[]): void {
  request.cork()
  for (const chunk of body) request.write(chunk)
  request.end()
  request.uncork()
}

async function collect(response: IncomingMessage, { wantedBytes = 0 }: Outgoing): Promise<Answer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response) {
    bytes += chunk.length
    if (bytes > MAX_ANSWER_BYTES + wantedBytes) throw new Error('the answer is too long')
    chunks.push(chunk)
  }
  return { status: response.statusCode!, headers: response.headers, body: Buffer.concat(chunks) }
}

/**
 * An answer may come a turn before the news that the last of the body was taken. What was not taken by then must not be sent
 * any more: its memory is about to be used again.
 */
async function settle(request: ClientRequest): Promise<void> {
  if (!request.writableFinished) await nextTurn()
  if (!request.writableFinished) request.destroy()
}

function timeout(silenceMs: number): Error {
  return Object.assign(new Error(`silent for ${silenceMs} ms`), { code: 'timeout' })
}
