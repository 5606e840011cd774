import type { EventKind, EventOf } from './event-kinds.ts'
import { retryDelayMs } from './retry.ts'
import { noAnswer, refusal, SluiceError } from './sluice-error.ts'
import { wait } from './wait.ts'

export type EventsOptions<Kind extends EventKind = 'file.status_changed'> = {
  /** Defaults to `file.status_changed` only. */
  events?: readonly Kind[]
  /** Only events of this Pipe. */
  pipeId?: string
  /** Where to continue: an event's `id`, or a value from `onPlace`, up to an hour ago. Defaults to now. */
  after?: string
  signal?: AbortSignal
  /**
   * Called with the id of an event when you request the next one, and with the current position if no event has arrived
   * for a while. Store the value, and pass it as `after` to continue from there.
   */
  onPlace?(id: string): void
  /** Called when the stream is open, initially and after each interruption. */
  onOpen?(): void
  /** Called when the stream was interrupted and is being reopened. */
  onBreak?(error: SluiceError): void
  /** Called after an interruption of more than an hour: events before `until` are missing. */
  onGap?(until: string): void
}

type Source = { baseUrl: string; accountKey: string; fetch: typeof fetch }
type Message = { id?: string; event?: string; data: string }

/** A heartbeat arrives every 15 seconds: after three times that, the connection is considered dead. */
const SILENCE_MS = 45_000
/** How many ids to remember, to skip events that the server sends again after a reconnect. */
const MAX_REMEMBERED = 10_000

/**
 * Yields every event once, as it happens, across interruptions of up to an hour. Ends when the signal is aborted, and
 * throws if the server refuses the request.
 */
export async function* followEvents<Kind extends EventKind = 'file.status_changed'>(
  { baseUrl, accountKey, fetch }: Source,
  {
    events,
    pipeId,
    after,
    signal = new AbortController().signal,
    onPlace,
    onOpen,
    onBreak,
    onGap,
  }: EventsOptions<Kind>,
): AsyncGenerator<EventOf<Kind>> {
  const query = new URLSearchParams({
    ...(pipeId !== undefined && { pipeId }),
    ...(events && { events: events.join(',') }),
  })
  const address = `${baseUrl}/events/stream${query.size > 0 ? `?${query}` : ''}`
  // The default is not part of the request, because an older server only has events of this kind.
  const kinds = new Set<string | undefined>(events ?? ['file.status_changed'])
  const told = new Set<string>()
  let place = after
  let failures = 0
  while (!signal.aborted) {
    try {
      let isOpen = false
      const headers = { Authorization: `Bearer ${accountKey}`, ...(place && { 'Last-Event-ID': place }) }
      for await (const { id, event, data } of open(fetch, address, headers, signal)) {
        if (event === 'gap') onGap?.(JSON.parse(data).until)
        if (kinds.has(event) && id && !told.has(id)) {
          remember(told, id)
          yield JSON.parse(data)
        }
        place = id ?? place
        if (id) onPlace?.(id)
        if (!isOpen) onOpen?.()
        isOpen = true
        failures = 0
      }
      throw new Error('The stream ended.')
    } catch (error) {
      if (signal.aborted) return
      const known = error instanceof SluiceError ? error : noAnswer(error, address)
      const delayMs = retryDelayMs(failures++, known)
      if (delayMs === undefined) throw known
      onBreak?.(known)
      await wait(delayMs, signal).catch(() => {})
    }
  }
}

function remember(told: Set<string>, id: string): void {
  told.add(id)
  if (told.size > MAX_REMEMBERED) told.delete(told.values().next().value!)
}

async function* open(
  fetch: Source['fetch'],
  address: string,
  headers: Record<string, string>,
  left: AbortSignal,
): AsyncGenerator<Message> {
  const silent = new AbortController()
  const listen = () => setTimeout(() => silent.abort(new Error('The connection timed out.')), SILENCE_MS)
  let timer = listen()
  try {
    const signal = AbortSignal.any([left, silent.signal])
    const response = await fetch(address, { headers, signal })
    if (!response.ok || !response.body) throw await refusal(response)
    let text = ''
    for await (const chunk of chunksOf(response.body.pipeThrough(new TextDecoderStream()))) {
      clearTimeout(timer)
      timer = listen()
      const blocks = (text + chunk).split('\n\n')
      text = blocks.pop()!
      yield* blocks.map(parse)
    }
  } finally {
    clearTimeout(timer)
    silent.abort()
  }
}

/** Not every runtime can iterate over a stream. */
async function* chunksOf(stream: ReadableStream<string>): AsyncGenerator<string> {
  const reader = stream.getReader()
  for (;;) {
    const { value, done } = await reader.read()
    if (done) return
    yield value
  }
}

function parse(block: string): Message {
  const message: Message = { data: '' }
  for (const line of block.split('\n')) {
    const [, name, value = ''] = line.match(/^(id|event|data): ?(.*)$/) ?? []
    if (name === 'id' || name === 'event') message[name] = value
    if (name === 'data') message.data += value
  }
  return message
}
