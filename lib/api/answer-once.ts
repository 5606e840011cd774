import { createHash } from 'node:crypto'
import { and, eq, lt } from 'drizzle-orm'
import { idempotencyKeys } from '#drizzle/schema/index.ts'
import type { Db } from '../platform/db/database.ts'
import { days } from '../platform/kernel/clock.ts'
import { invalidRequest, SluiceError } from '../platform/kernel/errors.ts'
import type { Runtime } from '../platform/runtime.ts'
import type { Operation } from './operation.ts'

const KEPT_MS = days(1)
const MAX_KEY_LENGTH = 255

type KeyedRequest = { key: string; what: string }
/** The caller that the key belongs to. */
export type Asking = { workspaceId: string; kind: string; id: string | null }
type Answered = { status: number; body: unknown }
type Work = {
  run(inside: Runtime): Promise<unknown>
  /** Uses the network, so it runs after the transaction. */
  after(answered: unknown): Promise<unknown>
}

/**
 * `Idempotency-Key`: sending the same request again within a day returns the first response and changes nothing. The
 * response is stored in the same transaction as the change: neither ever exists without the other, and a second request
 * that arrives in the meantime waits for the row lock. Only successes are stored. Responses are sealed, because they
 * may contain a secret that is shown only once. Each account key has its own idempotency keys.
 */
export async function answerOnce(
  runtime: Runtime,
  actor: Asking,
  { key, what }: KeyedRequest,
  { network, status }: Operation,
  { run, after }: Work,
): Promise<Answered> {
  if (key.length === 0 || key.length > MAX_KEY_LENGTH) {
    throw invalidRequest([{ field: 'Idempotency-Key', message: 'must have 1 to 255 characters' }])
  }
  const requestHash = createHash('sha256').update(what).digest('hex')
  const place = { workspaceId: actor.workspaceId, actorId: `${actor.kind}:${actor.id}`, key, requestHash }
  const once = async (inside: Runtime) => {
    const answered = (await claim(inside, place)) ? undefined : await earlier(inside, place)
    if (answered) return { answered, fresh: false }
    const made = { status, body: await run(inside) }
    await keep(inside, place, made)
    return { answered: made, fresh: true }
  }
  const { answered, fresh } = await (network
    ? once(runtime)
    : runtime.db.transaction((tx) => once({ ...runtime, db: tx })))
  if (!fresh) return answered
  const body = await after(answered.body)
  if (body !== answered.body) await keep(runtime, place, { status, body })
  return { status, body }
}

type Place = { workspaceId: string; actorId: string; key: string; requestHash: string }
type ResponseStore = Pick<Runtime, 'clock' | 'vault'> & { db: Db }

const at = ({ workspaceId, actorId, key }: Place) =>
  and(
    eq(idempotencyKeys.workspaceId, workspaceId),
    eq(idempotencyKeys.actorId, actorId),
    eq(idempotencyKeys.key, key),
  )
const sealedFor = ({ workspaceId, actorId, key }: Place) =>
  idempotencyContext(`${workspaceId}:${actorId}:${key}`)

/** The context that a stored response is sealed for; `id` is `<workspace>:<actor>:<key>`. */
export const idempotencyContext = (id: string) => `idempotency:${id}`

/** Returns true for the first request. Later ones wait here until the first has committed or rolled back. */
async function claim({ db, clock }: ResponseStore, place: Place): Promise<boolean> {
  const overSince = new Date(clock.now() - KEPT_MS)
  await db.delete(idempotencyKeys).where(and(at(place), lt(idempotencyKeys.createdAt, overSince)))
  const claimed = await db
    .insert(idempotencyKeys)
    .values({ ...place, createdAt: new Date(clock.now()) })
    .onConflictDoNothing()
    .returning({ key: idempotencyKeys.key })
  return claimed.length > 0
}

async function keep({ db, vault }: ResponseStore, place: Place, { status, body }: Answered): Promise<void> {
  const sealed = vault.seal(JSON.stringify(body ?? null), sealedFor(place))
  await db.update(idempotencyKeys).set({ status, body: sealed }).where(at(place))
}

async function earlier({ db, clock, vault }: ResponseStore, place: Place): Promise<Answered | undefined> {
  const [row] = await db.select().from(idempotencyKeys).where(at(place))
  if (!row || row.createdAt.getTime() < clock.now() - KEPT_MS) return undefined
  if (row.requestHash !== place.requestHash) {
    throw new SluiceError(
      'conflict',
      'This Idempotency-Key was used for another request within the last day.',
    )
  }
  // The operation that claimed the key uses the network and has not returned yet.
  if (row.body === null) return undefined
  const body = JSON.parse(vault.open(row.body, sealedFor(place)))
  return { status: row.status!, body: body ?? undefined }
}
