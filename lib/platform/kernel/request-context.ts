import { AsyncLocalStorage } from 'node:async_hooks'

/**
 * The request that the running code is serving: its ids for logs, timelines and webhooks, and what is known about it.
 */
export type RequestContext = {
  id: string
  /** W3C Trace Context, if set by a trusted proxy or our own tracing. */
  traceparent: string | undefined
  /** The client's address, after validating the proxies in between. */
  client?: string
  /** Set if the request was sent to a workspace's own host, where no other workspace may appear. */
  linkHost?: LinkHost
  /** True if someone is waiting for a page or an API response, which must fail quickly while the database is down. */
  failsSoon?: boolean
  /** Aborted if the client of a request that only reads leaves before its response. */
  left?: AbortSignal | undefined
  notes: RequestNotes
}

export type LinkHost = { workspaceId: string; origin: string }

/** Fields for the access log. Each layer adds what it finds out. */
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
/** Next.js loads its own copy of every module, so this cannot be module state. */
global[KEY] ??= new AsyncLocalStorage()
const storage = global[KEY]

export function runRequest<Result>(context: RequestContext, run: () => Result): Result {
  return storage.run(context, run)
}

/** Undefined for background work, such as sweeps. */
export function currentRequest(): RequestContext | undefined {
  return storage.getStore()
}

/** Binds a function to the current request, so that it can be called from outside the request. */
export function inThisRequest<Args extends unknown[], Result>(
  work: (...args: Args) => Result,
): (...args: Args) => Result {
  const context = storage.getStore()
  return context ? (...args) => storage.run(context, work, ...args) : work
}

/** This server's addresses as the client knows them: a workspace's own host only names itself. */
export function addressesHere(config: { baseUrl: string; uploadUrl: string }) {
  const origin = currentRequest()?.linkHost?.origin
  return { baseUrl: origin ?? config.baseUrl, uploadUrl: origin ?? config.uploadUrl }
}

export function noteRequest(notes: RequestNotes): void {
  const context = storage.getStore()
  if (context) Object.assign(context.notes, notes)
}

export function failSoon(left?: AbortSignal): void {
  const context = storage.getStore()
  if (context) Object.assign(context, { failsSoon: true, left })
}

/** Runs work that several requests share, so it belongs to none of them, and does not end with any of their clients. */
export function runShared<Result>(work: () => Result): Result {
  const context = storage.getStore()
  if (!context) return work()
  const { id, traceparent, failsSoon = false } = context
  return storage.run({ id, traceparent, failsSoon, notes: {} }, work)
}

/** The request id, for a line in a file's timeline. */
export function requestDetail(): { requestId?: string } {
  const context = storage.getStore()
  return context ? { requestId: context.id } : {}
}
