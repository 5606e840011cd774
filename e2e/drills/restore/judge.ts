import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import { type Db, rows } from '#lib/platform/db/database.ts'
import type { Log } from '../../chaos/log.ts'
import { checkLedger, checkUsage } from '../../chaos/verify.ts'
import type { Journey } from './journeys.ts'
import type { Place } from './place.ts'

export type Reconciled = {
  uploads: { looked: number; found: string[] }
  dataStores: ({ dataStoreId: string } & (
    | { listed: true; unknown: { key: string }[] }
    | { listed: false; reason: string }
  ))[]
}
type Found = { id: string; status: string; certainty: string | null; reason: string | null }
type Told = { file_id: string; status: string; destinations: { key: string; reason?: string }[] }

const PATIENCE_MS = 120_000

/** Waits until no webhooks are pending. */
export async function untilTold(db: Db): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS
  const look = sql`select 1 from deliveries where state = 'pending' limit 1`
  while ((await rows(db, look)).length > 0) {
    if (Date.now() > deadline) throw new Error('Webhooks are still pending.')
    await sleep(200)
  }
}

export async function readFiles(db: Db): Promise<Map<string, Found>> {
  const found = await rows<Found>(
    db,
    sql`select f.id, f.status, d.certainty, f.failure_reason as reason
      from files f join file_destinations d on d.file_id = f.id`,
  )
  return new Map(found.map((file) => [file.id, file]))
}

/** The expected final state of the file; undefined if the database should have no record of it. */
function dueStatus({ kind, customer, inParts }: Journey, isKnown: boolean): string | undefined {
  const mayRead = customer.keys === 'all rights'
  if (kind === 'new' || (kind === 'during' && !isKnown)) return undefined
  if (kind === 'lost' && !mayRead) return 'uploading'
  if (kind === 'since' && !mayRead && inParts) return 'failed'
  return 'transferred'
}

/**
 * Checks that every file ends as described in docs/operations.md, that its object equals its source, and that the usage
 * and the ledger agree.
 */
export async function judgeFiles(db: Db, journeys: readonly Journey[], log: Log): Promise<void> {
  const files = await readFiles(db)
  for (const journey of journeys) {
    const { kind, name, fileId, key, bytes, customer } = journey
    const file = files.get(fileId)
    const due = dueStatus(journey, file !== undefined)
    if (file?.status !== due)
      log.violation(`${name} is ${file?.status} and should be ${due}: ${file?.reason}`)
    if (due === 'failed' && (file?.certainty !== 'unknown' || !file.reason?.includes(key)))
      log.violation(`${name} failed as ${file?.certainty}, which is not unknown: ${file?.reason}`)
    const isWhole = await customer.site.bucket.object(key).then(
      (object) => object.equals(bytes),
      () => false,
    )
    if (!isWhole) log.violation(`the object of ${name} differs from its source`)
    const end = due === 'failed' ? 'failed, unknown' : (file?.status ?? 'no record')
    log.count(`${customer.keys}, ${kind}: ${end}`)
  }
  await checkLedger(db, log)
  await checkUsage(db, log)
}

/** Checks that each arrival was reported, before or after the restore, and that no webhook contradicts another. */
export function judgeWebhooks({ receiver }: Place, journeys: readonly Journey[], log: Log): void {
  const told = receiver.received.map(({ body }) => JSON.parse(body).data as Told)
  for (const { fileId, name, key, kind } of journeys) {
    const own = told.filter(({ file_id }) => file_id === fileId)
    if (!own.some(({ status }) => status === 'transferred'))
      log.violation(`${name} (${kind}) was never reported`)
    const denials = own.filter(({ status }) => status !== 'transferred')
    for (const { status, destinations } of denials) {
      const [destination] = destinations
      if (destination?.reason === 'unknown' && destination.key === key)
        log.count('webhooks with the reason unknown')
      else log.violation(`${name} was reported as both transferred and ${status}`)
    }
    if (own.filter(({ status }) => status === 'transferred').length > 1)
      log.count('files reported more than once')
  }
  log.count('webhooks received', told.length)
}

/**
 * Checks that `reconcile` finds exactly what the backup did not include if the keys can list the bucket, and otherwise
 * reports that they cannot.
 */
export function judgeReconciled(
  { uploads, dataStores }: Reconciled,
  { db, journeys, log }: { db: Map<string, Found>; journeys: readonly Journey[]; log: Log },
): void {
  const expectSame = (what: string, is: string[], due: string[]) => {
    if (is.toSorted().join() !== due.toSorted().join())
      log.violation(`reconcile found the ${what} ${is} instead of ${due}`)
    log.count(`${what} found by reconcile`, is.length)
  }
  const readable = journeys.filter(({ customer }) => customer.keys === 'all rights')
  const isLost = ({ kind, fileId }: Journey) =>
    kind === 'lost' || (kind === 'during' && db.get(fileId)?.status === 'uploading')
  expectSame(
    'uploads',
    uploads.found,
    readable.filter(isLost).map(({ fileId }) => fileId),
  )
  for (const store of dataStores) {
    const { customer } = journeys.find((one) => one.customer.site.dataStore.id === store.dataStoreId)!
    if (store.listed !== (customer.keys === 'all rights'))
      log.violation(
        `reconcile ${store.listed ? 'listed' : 'did not list'} a bucket whose keys have ${customer.keys}`,
      )
    if (store.listed)
      expectSame(
        'unknown objects',
        store.unknown.map(({ key }) => key),
        readable.filter(({ fileId }) => !db.has(fileId)).map(({ key }) => key),
      )
  }
  log.count('buckets that reconcile could not list', dataStores.filter(({ listed }) => !listed).length)
}
