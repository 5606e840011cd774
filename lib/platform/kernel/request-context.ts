import { AsyncLocalStorage } from 'node:async_hooks'

/** The request that the running code answers: what names it in logs, timelines and webhooks, and what is known of it. */
export type RequestContext = {
  id: string
  /** W3C Trace Context, where a trusted proxy or our own tracing set it. */
  traceparent: string | undefined
  /** The client's address, once the proxies in between have been judged. */
  client?: string
  /** Somebody waits for a page or an answer of the API: without a database it is told so at once. */
  failsSoon?: boolean
  notes: RequestNotes
}

/** For the access log; each room adds what it finds out. */
type RequestNotes = {
  workspaceId?: string
  pipeId?: string
  fileId?: string
  tokenId?: string
  code?: string
  protocol?: string
}

const KEY = Symbol.for('sluice.request-context')
const global = globalThis as { [KEY]?: AsyncLocalStorage<RequestContext> }
/** Next loads its own copy of every module, so it cannot live in one. */
global[KEY] ??= new AsyncLocalStorage()
const storage = global[KEY]

export function runRequest<Result>(context: RequestContext, run: () => Result): Result {
  return storage.run(context, run)
}

/** Undefined in work that no request waits for, as sweeps. */
export function currentRequest(): RequestContext | undefined {
  return storage.getStore()
}

/** The same function, for callers outside: what it does belongs to the request that is answered now. */
export function inThisRequest<Args extends unknown[], Result>(
  work: (...args: Args) => Result,
): (...args: Args) => Result {
  const context = storage.getStore()
  return context ? (...args) => storage.run(context, work, ...args) : work
}

export function noteRequest(notes: RequestNotes): void {
  const context = storage.getStore()
  if (context) Object.assign(context.notes, notes)
}

export function failSoon(): void {
  const context = storage.getStore()
  if (context) context.failsSoon = true
}

/** For a line of a file's timeline. */
export function requestDetail(): { requestId?: string } {
  const context = storage.getStore()
  return context ? { requestId: context.id } : {}
}
