import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { GuardedAgents } from './guarded-agents.ts'
import { PostError, readFault } from './post-error.ts'
import { readAnswer } from './read-answer.ts'

/** Every one of them cuts a hostile or broken receiver short. */
export type PostLimits = {
  /** From the start until the connection can carry the request, name look-up and TLS included. */
  connectMs: number
  /** From the start until the answer's status and headers are there, and the most for all of it. */
  totalMs: number
  /** After the headers, for what is kept of the body. */
  bodyMs: number
  bodyBytes: number
  headerBytes: number
}

export type PostRequest = { url: string; headers: Record<string, string>; body: Uint8Array }

export type PostAnswer = {
  status: number
  headers: Record<string, string>
  /** The first `bodyBytes` of it. */
  body: string
  /** Why the body ends before its end, if it does. */
  cut?: string
}

/** Informational answers (RFC 9110, 15.2) that are sat through; a receiver could send them for ever. */
const MAX_INFORMATIONAL = 8
/** One POST, never a redirect. Throws a `PostError` that says in which class it failed. */
export async function post(
  agents: GuardedAgents,
  request: PostRequest,
  limits: PostLimits,
): Promise<PostAnswer> {
  try {
    return await answerOf(open(agents, request, limits), request.body, limits)
  } catch (error) {
    throw readFault(error, limits)
  }
}

function open(agents: GuardedAgents, { url, headers }: PostRequest, limits: PostLimits): ClientRequest {
  const { protocol } = new URL(url)
  const options = { method: 'POST', headers, maxHeaderSize: limits.headerBytes }
  return protocol === 'https:'
    ? httpsRequest(url, { ...options, agent: agents.https })
    : httpRequest(url, { ...options, agent: agents.http })
}

function answerOf(attempt: ClientRequest, body: Uint8Array, limits: PostLimits): Promise<PostAnswer> {
  const { connectMs, totalMs } = limits
  const cancel = (what: string) => attempt.destroy(new PostError('timeout', what))
  const connecting = setTimeout(cancel, connectMs, `It did not connect within ${connectMs / 1000} s.`)
  const answering = setTimeout(cancel, totalMs, `It did not answer within ${totalMs / 1000} s.`)
  const until = performance.now() + totalMs
  let informational = 0

  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    attempt.on('error', reject)
    // Node may report the end of a socket before a request was given one in no other way.
    attempt.once('close', () =>
      reject(new PostError('connect', 'The connection was closed without an answer.')),
    )
    attempt.once('response', resolve)
    attempt.once('socket', (socket) => {
      const ready = () => clearTimeout(connecting)
      if (!socket.connecting) return ready()
      socket.once('encrypted' in socket ? 'secureConnect' : 'connect', ready)
    })
    attempt.on('information', () => {
      if (++informational <= MAX_INFORMATIONAL) return
      attempt.destroy(new PostError('status', 'It sends informational answers without end.'))
    })
    attempt.end(body)
  })
  return answered
    .then((response) => readAnswer(response, limits, until))
    .finally(() => {
      clearTimeout(connecting)
      clearTimeout(answering)
    })
}
