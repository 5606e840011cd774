import { and, eq } from 'drizzle-orm'
import { type BucketCheck, dataStores } from '#drizzle/schema/index.ts'
import { probeBucket } from '../../buckets/probe-bucket.ts'
import { capabilitiesOf } from '../../buckets/providers.ts'
import type { Actor } from '../../identity/audit/record-audit.ts'
import { isSluiceError, SluiceError } from '../../platform/kernel/errors.ts'
import { takeFromLimit } from '../../platform/rate-limits.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { applyChanges } from './apply-changes.ts'
import {
  accessKeyPlace,
  type DataStore,
  type DataStoreChanges,
  type DataStoreInput,
  secretKeyPlace,
  toDataStore,
} from './data-store.ts'
import { diagnose } from './diagnose.ts'
import { findDataStore } from './find-data-store.ts'
import { resolvePlace } from './resolve-place.ts'

/** The bucket doctor. It goes out to the network, so it must not be called in a transaction. */
type Needs = Pick<Runtime, 'db' | 'clock' | 'vault' | 'config'>

const AT_PEACE = { rejectingSince: null, rejection: null, rejectedAt: null, recheckAt: null }
const PER_WORKSPACE = { burst: 30, refillMs: 2000 }

export async function checkDataStore(runtime: Needs, actor: Actor, id: string): Promise<DataStore> {
  const { db, clock, vault, config } = runtime
  const row = await findDataStore(db, actor, id)
  await takeFromLimit(runtime, `check:${actor.workspaceId}`, PER_WORKSPACE)
  const keys = {
    accessKeyId: vault.open(row.accessKeyIdEncrypted, accessKeyPlace(id)),
    secretAccessKey: vault.open(row.secretAccessKeyEncrypted, secretKeyPlace(id)),
  }
  const { allowedPrivateHosts } = config
  const capabilities = capabilitiesOf(row.provider, row.found)
  const probe = await probeBucket({ ...row, ...keys, capabilities }, { allowedPrivateHosts, clock })
  const { mayAbort, mayRead, mayDelete } = probe
  const found = { ...row.found, ...probe.found }
  const now = new Date(clock.now())
  const check = diagnose(probe, row, clock.now())
  const readyAt = row.readyAt ?? (check.ok ? now : null)
  // A change in the meantime makes this the check of another place.
  const unchanged = and(eq(dataStores.id, id), eq(dataStores.updatedAt, row.updatedAt))
  const [after] = await db
    .update(dataStores)
    .set({
      check,
      mayAbort,
      mayRead,
      mayDelete,
      found,
      readyAt,
      updatedAt: now,
      ...(check.ok && AT_PEACE),
    })
    .where(unchanged)
    .returning()
  if (!after)
    throw new SluiceError('conflict', 'The Data Store was changed during the check. Check it again.')
  return toDataStore(after, vault)
}

/** On creation, and after a change that undid the last check. What was saved stays if its check cannot be kept. */
export async function checkSavedDataStore(runtime: Needs, actor: Actor, made: DataStore): Promise<DataStore> {
  return checkDataStore(runtime, actor, made.id).catch((error) => {
    if (isSluiceError(error)) return made
    throw error
  })
}

/** For a form: checks what is entered, and keeps nothing. */
export async function checkBucket(runtime: Needs, actor: Actor, input: DataStoreInput): Promise<BucketCheck> {
  const { clock, config } = runtime
  const { allowedPrivateHosts } = config
  const entered = {
    ...input,
    ...resolvePlace(input, allowedPrivateHosts),
    prefix: input.prefix ?? '',
    storageClass: input.storageClass ?? null,
    encryption: input.encryption ?? null,
    capabilities: capabilitiesOf(input.provider, null),
  }
  await takeFromLimit(runtime, `check:${actor.workspaceId}`, PER_WORKSPACE)
  const probe = await probeBucket(entered, { allowedPrivateHosts, clock })
  return diagnose(probe, entered, clock.now())
}

/** Before changes are saved: whether uploads would arrive with them. */
export async function checkChanges(
  runtime: Needs,
  actor: Actor,
  id: string,
  changes: DataStoreChanges,
): Promise<BucketCheck> {
  const { db, clock, vault, config } = runtime
  const { allowedPrivateHosts } = config
  const before = await findDataStore(db, actor, id)
  const after = applyChanges(before, changes, allowedPrivateHosts)
  const entered = {
    ...after,
    capabilities: capabilitiesOf(after.provider, after.found),
    accessKeyId: changes.accessKeyId ?? vault.open(before.accessKeyIdEncrypted, accessKeyPlace(id)),
    secretAccessKey:
      changes.secretAccessKey ?? vault.open(before.secretAccessKeyEncrypted, secretKeyPlace(id)),
  }
  await takeFromLimit(runtime, `check:${actor.workspaceId}`, PER_WORKSPACE)
  const probe = await probeBucket(entered, { allowedPrivateHosts, clock })
  return diagnose(probe, entered, clock.now())
}
