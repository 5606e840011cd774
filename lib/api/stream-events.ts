import type { EventKind } from '#drizzle/schema/pipes.ts'
import { type EventPlace, listEventIds, readEventBodies } from '../events/read-events.ts'
import { isKeyGood } from '../identity/accounts/authenticate-account-key.ts'
import type { Actor } from '../identity/audit/record-audit.ts'
import { readOwner } from '../identity/owner.ts'
import { LIVE_CHANNEL } from '../platform/db/database.ts'
import { hours, seconds } from '../platform/kernel/clock.ts'
import { invalidRequest, SluiceError } from '../platform/kernel/errors.ts'
import { firstUuidAt, isUuid } from '../platform/kernel/ids.ts'
import { createBell } from '../platform/kernel/waits.ts'
import { createPlaces } from '../platform/places.ts'
import type { Runtime } from '../platform/runtime.ts'

/**
 * Sends events as server-sent events. An event gets its id before it is committed, so it may become visible after an
 * event with a later id: each query goes back a few seconds, and skips events that were already sent. A client that
 * reconnects gets the events of those seconds again instead of missing any. Events are sent at least once, for an hour.
 */
const LOOK_EVERY_MS = seconds(1)
const LATE_MS = seconds(15)
const BEAT_MS = seconds(15)
const KEPT_MS = hours(1)
/** Streams end after this time, and clients reconnect, so that a draining node becomes empty. */
const LIFE_MS = hours(1)
const IDS_AT_ONCE = 1000
const BODIES_AT_ONCE = 100

const LIMITS = { most: 500, mostForEach: 20 }
const places = createPlaces(LIMITS)

type StreamRuntime = Pick<Runtime, 'db' | 'database' | 'clock'>
type Wanted = {
  pipeId?: string | undefined
  kinds: readonly EventKind[]
  lastEventId: string | undefined
  signal: AbortSignal
}

export async function streamEvents(
  needs: StreamRuntime,
  actor: Actor,
  { pipeId, kinds, lastEventId, signal }: Wanted,
) {
  if (lastEventId !== undefined && !isUuid(lastEventId))
    throw invalidRequest([{ field: 'Last-Event-ID', message: 'is not the id of an event' }])
  const ending = new AbortController()
  const end = () => ending.abort()
  const taken = places.take(await readOwner(needs.db, actor.workspaceId), end)
  if ('refused' in taken)
    throw new SluiceError('rate_limited', REFUSALS[taken.refused], { headers: { 'Retry-After': '10' } })
  if (signal.aborted) end()
  signal.addEventListener('abort', end, { once: true })
  const since =
    lastEventId === undefined ? undefined : Number.parseInt(lastEventId.replace('-', '').slice(0, 12), 16)
  return untilLeft(
    messages(needs, actor.id!, { workspaceId: actor.workspaceId, pipeId, kinds }, since, ending.signal),
    ending.signal,
    taken.leave,
  )
}

const REFUSALS = {
  'own share used': `This workspace and its owner's others have ${LIMITS.mostForEach} event streams open on this node, which is the limit.`,
  'all taken': `All ${LIMITS.most} event streams on this node are in use, and nobody has more of them open than you. Try again later.`,
}

/** Frees the place as soon as the client disconnects, even if the stream is waiting or was never read. */
async function* untilLeft(stream: AsyncGenerator<string>, signal: AbortSignal, leave: () => void) {
  signal.addEventListener('abort', leave, { once: true })
  try {
    yield* stream
  } finally {
    leave()
  }
}

async function* messages(
  { db, database, clock }: StreamRuntime,
  keyId: string,
  place: EventPlace & { kinds: readonly EventKind[] },
  since: number | undefined,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const bell = createBell(signal)
  const unlisten = await database.listen(LIVE_CHANNEL, (payload) => {
    if (payload === null || payload === place.workspaceId) bell.ring()
  })
  const beganMs = clock.now()
  const told = new Set<string>()
  let fromMs = Math.max(since ?? beganMs, beganMs - KEPT_MS) - LATE_MS
  let beatMs = beganMs
  try {
    if (since === undefined) await leaveOut(db, place, fromMs, told)
    yield `retry: 2000\n${placeAt(since ?? beganMs)}`
    if (since !== undefined && since < beganMs - KEPT_MS)
      yield `event: gap\ndata: ${JSON.stringify({ until: new Date(beganMs - KEPT_MS) })}\n\n`
    while (!signal.aborted && clock.now() < beganMs + LIFE_MS) {
      if (!(await isKeyGood({ db, clock }, keyId))) return
      const lookedMs = clock.now()
      let askedMs = lookedMs
      for await (const ids of eachNew(db, place, fromMs, told)) {
        for (const { id, kind, body } of await readEventBodies(db, ids)) {
          // Checks the key again, because a slow client may take a long time to read a backlog.
          if (clock.now() - askedMs >= LOOK_EVERY_MS) {
            askedMs = clock.now()
            if (!(await isKeyGood({ db, clock }, keyId))) return
          }
          if (place.kinds.includes(kind)) yield `id: ${id}\nevent: ${kind}\ndata: ${body}\n\n`
        }
        for (const id of ids) told.add(id)
      }
      fromMs = lookedMs - LATE_MS
      forget(told, fromMs)
      if (lookedMs - beatMs >= BEAT_MS) {
        beatMs = lookedMs
        yield `: beat\n${placeAt(lookedMs)}`
      }
      await bell.wait(LOOK_EVERY_MS)
    }
  } finally {
    await unlisten()
  }
}

/** Gives clients an id to reconnect with, even if there has been no event yet. */
const placeAt = (ms: number) => `id: ${firstUuidAt(ms)}\n\n`

async function leaveOut(
  db: StreamRuntime['db'],
  place: EventPlace,
  fromMs: number,
  told: Set<string>,
): Promise<void> {
  for await (const ids of eachNew(db, place, fromMs, told)) for (const id of ids) told.add(id)
}

async function* eachNew(
  db: StreamRuntime['db'],
  place: EventPlace,
  fromMs: number,
  told: ReadonlySet<string>,
) {
  let after = firstUuidAt(fromMs)
  for (;;) {
    const ids = await listEventIds(db, place, after, IDS_AT_ONCE)
    const fresh = ids.filter((id) => !told.has(id))
    for (let at = 0; at < fresh.length; at += BODIES_AT_ONCE) yield fresh.slice(at, at + BODIES_AT_ONCE)
    if (ids.length < IDS_AT_ONCE) return
    after = ids.at(-1)!
  }
}

function forget(told: Set<string>, beforeMs: number): void {
  const first = firstUuidAt(beforeMs)
  for (const id of told) if (id < first) told.delete(id)
}
