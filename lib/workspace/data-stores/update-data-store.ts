import { eq } from 'drizzle-orm'
import { dataStores } from '#drizzle/schema/index.ts'
import { type Actor, recordAudit } from '../../identity/audit/record-audit.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { sealsForColumns } from '../../platform/vault.ts'
import { chooseCredentials, openCredentials, sealCredentials, withoutCredentials } from './credentials.ts'
import { type DataStore, type DataStoreChanges, toDataStore } from './data-store.ts'
import { assertPossible } from './federation.ts'
import { countUploadsUnderWay, type DataStoreRow, findDataStore, uploads } from './read-data-stores.ts'
import { resolvePlace, usualEndpoint } from './resolve-place.ts'

/** A check's findings only apply to the location and keys that it used. */
const UNCHECKED = { check: null, mayAbort: false, mayRead: false, mayDelete: false }

export async function updateDataStore(
  { db, clock, vault, config }: Pick<Runtime, 'db' | 'clock' | 'vault' | 'config'>,
  actor: Actor,
  id: string,
  changes: DataStoreChanges,
): Promise<DataStore> {
  return db.transaction(async (tx) => {
    // Called before the row is locked, so that locks are acquired in the same order as in rotate-keys.
    const seal = await sealsForColumns(tx, vault)
    const before = await findDataStore(tx, actor, id, 'update')
    const after = applyChanges(before, changes, config.allowedPrivateHosts)
    const moves = isElsewhere(before, after)
    if (moves) await assertIdle(tx, id)
    const credentials = chooseCredentials(after.provider, changes, openCredentials(vault, before))
    if (changes.federation || changes.assumedRole) assertPossible(config, credentials, after)
    const [row] = await tx
      .update(dataStores)
      .set({
        ...after,
        ...sealCredentials(seal, id, credentials),
        ...(Object.keys(changes).some((field) => field !== 'name') && UNCHECKED),
        ...(moves && { readyAt: null }),
        updatedAt: new Date(clock.now()),
      })
      .where(eq(dataStores.id, id))
      .returning()
    const detail = { fields: Object.keys(changes) }
    const entry = { action: 'data_store.updated', subjectId: id, subjectLabel: row!.name, detail }
    await recordAudit({ db: tx, clock }, actor, entry)
    return toDataStore(row!, { vault, config })
  })
}

async function assertIdle(
  tx: Pick<Runtime, 'db' | 'clock' | 'vault' | 'config'>['db'],
  id: string,
): Promise<void> {
  const underWay = await countUploadsUnderWay(tx, id)
  if (underWay === 0) return
  throw new SluiceError(
    'conflict',
    `${uploads(underWay)} in progress to this bucket, so its location cannot change now. Create another Data Store, or wait until all of them have ended.`,
  )
}

/** The Data Store after the change. With a different provider, omitted values come from its preset. */
export function applyChanges(before: DataStoreRow, changes: DataStoreChanges, allowedPrivateHosts: string[]) {
  const fields = withoutCredentials(changes)
  const moves = fields.provider !== undefined && fields.provider !== before.provider
  const given = moves
    ? {}
    : { endpoint: before.endpoint, region: before.region, forcePathStyle: before.forcePathStyle }
  // A different region has a different endpoint, unless the customer entered it.
  if (!moves && fields.region && fields.region !== before.region && fields.endpoint === undefined)
    given.endpoint = followRegion(before, fields.region)
  const { provider, bucket, storageClass, encryption } = before
  const place = resolvePlace(
    { provider, bucket, storageClass, encryption, ...given, ...fields },
    allowedPrivateHosts,
  )
  const after = { ...before, ...withoutUndefined(fields), ...place }
  return { ...after, found: isElsewhere(before, after) ? null : before.found }
}

/** A Data Store's location cannot change while it has uploads in progress; its name, prefix and keys can. */
const PLACE = ['provider', 'endpoint', 'region', 'bucket', 'forcePathStyle'] as const

function isElsewhere(
  before: Pick<DataStoreRow, (typeof PLACE)[number]>,
  after: Pick<DataStoreRow, (typeof PLACE)[number]>,
): boolean {
  return PLACE.some((field) => after[field] !== before[field])
}

function followRegion({ provider, endpoint, region }: DataStoreRow, next: string): string {
  if (endpoint === usualEndpoint(provider, region)) return usualEndpoint(provider, next)!
  return endpoint.includes(region) ? endpoint.replace(region, next) : endpoint
}

function withoutUndefined<T extends object>(value: T): { [K in keyof T]-?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, entry]) => entry !== undefined)) as never
}
