import { z } from 'zod'
import { authenticateAccountKey } from '../identity/accounts/authenticate-account-key.ts'
import { assertMay } from '../identity/rights.ts'
import { toProblem } from '../platform/http/problem.ts'
import { bearerToken, type IncomingBody, readBytes } from '../platform/http/read-request.ts'
import { SluiceError } from '../platform/kernel/errors.ts'
import { parseInput } from '../platform/kernel/parse-input.ts'
import { noteRequest } from '../platform/kernel/request-context.ts'
import type { Runtime } from '../platform/runtime.ts'
import { authenticateSender } from '../workspace/senders/read-senders.ts'
import { type Asking, answerOnce } from './answer-once.ts'
import { isOnce, type Operation } from './operation.ts'
import { OPERATIONS } from './operations.ts'

export type ApiRequest = IncomingBody & { method: string; url: string; signal?: AbortSignal }
type Answer = {
  status: number
  headers: Record<string, string>
  body: string | AsyncIterable<string> | null
}

const API_ROOT = '/api/v1'
const NO_QUERY = z.strictObject({})

/**
 * Handles an API request from start to end: finds its operation, authenticates, parses, runs the verb and responds.
 * Responses have no CORS headers, so that pages from other origins cannot call the API. It depends neither on Node.js
 * requests nor on Next.js requests: each entry point creates an `ApiRequest`, and a `Request` already is one.
 */
export async function answerRequest(runtime: Runtime, request: ApiRequest): Promise<Answer> {
  const url = new URL(request.url)
  let matched: ReturnType<typeof matchOperation> | undefined
  let code = 'ok'
  try {
    matched = matchOperation(request.method, url.pathname.slice(API_ROOT.length))
    return await answer(runtime, request, url, matched)
  } catch (error) {
    const problem = toProblem(error, runtime.config.baseUrl)
    code = problem.code
    noteRequest({ code })
    if (problem.isFault)
      runtime.log.error({ err: error, operation: matched?.operation.id }, 'API request failed')
    return { status: problem.status, headers: problem.headers, body: problem.body }
  } finally {
    if (matched?.operation.id === 'issueToken') runtime.metrics.tokens.inc({ code })
  }
}

type Matched = ReturnType<typeof matchOperation>

async function answer(
  runtime: Runtime,
  request: ApiRequest,
  url: URL,
  { operation, params }: Matched,
): Promise<Answer> {
  const { who, asking } = await identify(runtime, operation, request)
  const sent = await readBody(request, operation)
  const read = () => readInput(operation, url, sent)
  const { query, given } = operation.checksToken ? await orInvalidToken(runtime, who as string, read) : read()
  const body = operation.prepare ? await operation.prepare(given) : given
  const call = { runtime, who, params, query, body, asked: request }
  if (operation.stream) return respondWithStream(await operation.run(call))
  const run = (inside: Runtime) => operation.run({ ...call, runtime: inside })
  const after = async (answered: unknown) => operation.after?.(call, answered) ?? answered
  const key = request.headers.get('idempotency-key')
  if (key === null || !isOnce(operation)) {
    return respond(operation.status, await after(await run(runtime)))
  }
  const asked = { key, what: `${url.pathname}\n${JSON.stringify(given ?? null)}` }
  const once = await answerOnce(runtime, asking!, asked, operation, { run, after })
  return respond(once.status, once.body)
}

/** `asking` is the owner of the idempotency keys: each Sender has its own, as does each account key. */
type Caller = { who?: unknown; asking?: Asking }

/** Checks the credentials before anything else is read, since everyone can send a body. */
async function identify(runtime: Runtime, operation: Operation, request: ApiRequest): Promise<Caller> {
  if (operation.auth === 'nobody') return {}
  const bearer = bearerToken(request.headers.get('authorization'))
  if (operation.auth === 'actor') {
    const actor = await authenticateAccountKey(runtime, bearer)
    noteRequest({ workspaceId: actor.workspaceId })
    assertMay(actor, operation.right!)
    return { who: actor, asking: actor }
  }
  if (!bearer) throw new SluiceError('token_missing', 'Send the Sender token: Authorization: Bearer sk_…')
  if (operation.checksToken) return { who: bearer }
  const { id, workspaceId } = await authenticateSender(runtime, bearer)
  return { who: bearer, asking: { kind: 'sender', id, workspaceId } }
}

function readInput(operation: Operation, url: URL, sent: unknown): { query: unknown; given: unknown } {
  const query = parseInput(operation.query ?? NO_QUERY, Object.fromEntries(url.searchParams))
  const given = operation.body && parseInput(operation.body, sent === undefined ? whenEmpty(operation) : sent)
  return { query, given }
}

/** Only a client with a valid token is told what is wrong with its input. */
async function orInvalidToken<Input>(runtime: Runtime, token: string, read: () => Input): Promise<Input> {
  try {
    return read()
  } catch (error) {
    await authenticateSender(runtime, token)
    throw error
  }
}

/** An operation whose fields are all optional also accepts an empty body. */
function whenEmpty(operation: Operation): unknown {
  if (operation.body!.safeParse({}).success) return {}
  throw new SluiceError('invalid_json', 'The body is empty; send a JSON object.')
}

function respond(status: number, body: unknown): Answer {
  const headers = { 'Cache-Control': 'no-store' }
  if (body === undefined) return { status: 204, headers, body: null }
  return { status, headers: { ...headers, 'Content-Type': 'application/json' }, body: JSON.stringify(body) }
}

function respondWithStream(messages: unknown): Answer {
  const headers = {
    'Content-Type': 'text/event-stream',
    // Compression would delay events; `no-transform` disables it.
    'Cache-Control': 'no-store, no-transform',
    'X-Accel-Buffering': 'no',
  }
  return { status: 200, headers, body: messages as AsyncIterable<string> }
}

const compiled = OPERATIONS.map((operation) => ({
  operation,
  pattern: new RegExp(`^${operation.path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`),
}))

function matchOperation(
  method: string,
  path: string,
): { operation: Operation; params: Record<string, string> } {
  const matching = compiled.filter(({ pattern }) => pattern.test(path))
  const literal = matching.filter(({ operation }) => operation.path === path)
  const here = literal.length > 0 ? literal : matching
  if (here.length === 0) throw new SluiceError('not_found', 'There is no such API endpoint.')
  const found = here.find(({ operation }) => operation.method === method)
  if (found) return { operation: found.operation, params: { ...path.match(found.pattern)!.groups } }
  const Allow = here.map(({ operation }) => operation.method).join(', ')
  throw new SluiceError('method_not_allowed', `Use ${Allow}.`, { headers: { Allow } })
}

/** Reads a request's JSON. Returns undefined if there is no body. */
async function readBody(request: IncomingBody, { method }: Operation): Promise<unknown> {
  if (method === 'GET' || method === 'DELETE') return undefined
  const bytes = await readBytes(request)
  if (bytes.length === 0) return undefined
  assertJson(request.headers.get('content-type'))
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (cause) {
    throw new SluiceError('invalid_json', 'The body is not JSON in UTF-8.', { cause })
  }
}

function assertJson(contentType: string | null): void {
  if (/^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i.test(contentType ?? '')) return
  throw new SluiceError('unsupported_media_type', 'Send the body as Content-Type: application/json.')
}
