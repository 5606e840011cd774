import type { EventKind, EventOf } from './event-kinds.ts'
import { type EventsOptions, followEvents } from './events.ts'
import { createClient } from './generated/client/index.ts'
import * as operations from './generated/sdk.ts'
import { sendWith } from './send.ts'
import { setting } from './settings.ts'

export type SluiceOptions = {
  /** Where Sluice is; SLUICE_URL if left out. */
  baseUrl?: string
  /** For everything but tokens to upload with, uploads and imports; SLUICE_ACCOUNT_KEY if left out. */
  accountKey?: string
  /** For `issueToken`, `createUpload`, and for imports; SLUICE_SENDER_TOKEN if left out. */
  senderToken?: string
  /** Attempts after the first one; 2 if left out. */
  maxRetries?: number
  /** For one attempt; 60,000 if left out. */
  timeoutMs?: number
  fetch?: typeof globalThis.fetch
}

export type CallOptions = {
  signal?: AbortSignal
  /** Of what a POST creates; one of its own if left out. Pass yours to repeat a call safely in another process. */
  idempotencyKey?: string
}

/** One page when it is awaited; every item of every page in `for await`. */
export interface Listing<Page, Item> extends Promise<Page>, AsyncIterable<Item> {}

type Operations = Omit<typeof operations, 'streamEvents'>
// biome-ignore lint/suspicious/noExplicitAny: the generated functions are generic
type Operation = (...args: any[]) => Promise<unknown>
type Input<Of extends Operation> = Parameters<Of>[0]
type Fields<Given> = Given extends object ? Omit<Given, 'Idempotency-Key'> : Given
type Answer<Of extends Operation> = Exclude<Awaited<ReturnType<Of>>, undefined>
type Answered<Data> = Data extends { data: (infer Item)[]; nextCursor: string | null }
  ? Listing<Data, Item>
  : Promise<Data>
type Call<Of extends Operation> =
  undefined extends Input<Of>
    ? (fields?: Fields<Input<Of>>, options?: CallOptions) => Answered<Answer<Of>>
    : (fields: Fields<Input<Of>>, options?: CallOptions) => Answered<Answer<Of>>

/** A function for each operation of the API, by the names of its reference. */
export type Sluice = { [Name in keyof Operations]: Call<Operations[Name]> } & {
  /** `for await` gives every event once, as it happens, across breaks of up to an hour. */
  events<Kind extends EventKind = 'file.status_changed'>(
    options?: EventsOptions<Kind>,
  ): AsyncGenerator<EventOf<Kind>>
}

const MAX_RETRIES = 2
const TIMEOUT_MS = 60_000

export function createSluice(options: SluiceOptions = {}): Sluice {
  const baseUrl = `${setting('baseUrl', options.baseUrl).replace(/\/+$/, '')}/api/v1`
  const { maxRetries = MAX_RETRIES, timeoutMs = TIMEOUT_MS, fetch = globalThis.fetch } = options
  const send = sendWith({ fetch, maxRetries, timeoutMs })
  const client = withoutItself({
    baseUrl,
    throwOnError: true,
    // It is called with the request alone, whatever its type says.
    fetch: (request) => send(request as Request),
    auth: ({ key }) => {
      const name = key === 'senderToken' ? 'senderToken' : 'accountKey'
      return setting(name, options[name])
    },
  })
  const call = (
    operation: Operation,
    fields: object | undefined,
    { signal, idempotencyKey }: CallOptions,
  ) => {
    const headers = idempotencyKey ? { 'Idempotency-Key': idempotencyKey } : {}
    const how = { client, headers, ...(signal && { signal }) }
    return takesFields(operation) ? operation(fields, how) : operation(how)
  }
  const calls = Object.entries(operations as Record<string, Operation>).map(([name, operation]) => [
    name,
    (fields?: object, how: CallOptions = {}) =>
      withItems(call(operation, fields, how), (cursor) => call(operation, { ...fields, cursor }, how)),
  ])
  const events = <Kind extends EventKind>(wanted: EventsOptions<Kind> = {}) =>
    followEvents({ baseUrl, fetch, accountKey: setting('accountKey', options.accountKey) }, wanted)
  return { ...Object.fromEntries(calls), events }
}

/** A generated function for which there is nothing to say has the options of the request alone. */
function takesFields(operation: Operation): boolean {
  return operation.length > 1
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const

/** A generated function hands its client on among the options of the request, where Deno takes it for one of its own. */
function withoutItself(config: Parameters<typeof createClient>[0]) {
  const client = createClient(config)
  const send = (method: (typeof METHODS)[number]) => [
    method,
    ({ client: _, ...options }: Parameters<typeof client.get>[0] & { client?: unknown }) =>
      client[method](options),
  ]
  return Object.fromEntries(METHODS.map(send))
}

type Page = { data: unknown[]; nextCursor: string | null }

/** What has no pages is never asked for its items: its type does not have them. */
function withItems(first: Promise<unknown>, turn: (cursor: string) => Promise<unknown>) {
  const items = async function* () {
    for (let page = (await first) as Page; ; page = (await turn(page.nextCursor)) as Page) {
      yield* page.data
      if (page.nextCursor === null) return
    }
  }
  return Object.assign(first, { [Symbol.asyncIterator]: items })
}
