import { type Agent, type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type AnswerMemory, collectAnswer } from './collect-answer.ts'

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
  /** And so does this time in all, its answer included: bytes that come one by one are no silence. */
  deadlineMs: number
  memory?: AnswerMemory | undefined
  signal?: AbortSignal | undefined
}

export type Answer = {
  status: number
  headers: IncomingMessage['headers']
  body: Buffer
}

export function exchange(outgoing: Outgoing): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const request = open(outgoing)
  let answered = false
  let late: Error | undefined
  const end = (error: Error) => {
    late = error
    request.destroy(error)
  }
  const { silenceMs, deadlineMs } = outgoing
  request.setTimeout(silenceMs, () => end(timeout(`silent for ${silenceMs} ms`)))
  const timer = setTimeout(() => end(timeout(`not done after ${deadlineMs} ms`)), deadlineMs)
  // An answer stands, whatever becomes of a body that the bucket did not want.
  request.on('error', (error) => answered || reject(late ?? error))
  const read = async (response: IncomingMessage) => {
    const answer = await collectAnswer(response, outgoing)
    answered = true
    await settle(request)
    return answer
  }
  request.once('response', (response) => read(response).then(resolve, (error) => reject(late ?? error)))
  send(request, outgoing.body)
  return promise.finally(() => clearTimeout(timer))
}

function open({ url, agent, method, path, headers, signal }: Outgoing): ClientRequest {
  const request = url.protocol === 'https:' ? requestHttps : requestHttp
  const { hostname, port } = url
  const host = hostname.replace(/^\[|\]$/g, '')
  return request({ host, port, agent, method, path, headers, signal })
}

/** Chunks go out as they are, in one writev: nothing is copied. */
function send(request: ClientRequest, body: readonly Uint8Array[]): void {
  request.cork()
  for (const chunk of body) request.write(chunk)
  request.end()
  request.uncork()
}

/**
 * An answer may come a turn before the news that the last of the body was taken. What was not taken by then must not be sent
 * any more: its memory is about to be used again.
 */
async function settle(request: ClientRequest): Promise<void> {
  if (!request.writableFinished) await nextTurn()
  if (!request.writableFinished) request.destroy()
}

function timeout(what: string): Error {
  return Object.assign(new Error(what), { code: 'timeout' })
}
