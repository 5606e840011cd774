import { and, eq, sql } from 'drizzle-orm'
import { type BucketCheck, dataStores, type PipeObject } from '#drizzle/schema/index.ts'
import { showSas } from '../../buckets/azure/sas.ts'
import { type ObjectUse, type Probe, type ProbedOperation, probeBucket } from '../../buckets/probe-bucket.ts'
import { PROBE_FOLDER } from '../../buckets/probe-operations.ts'
import { capabilitiesOf } from '../../buckets/providers.ts'
import type { Actor } from '../../identity/audit/record-audit.ts'
import { type Db, rows } from '../../platform/db/database.ts'
import { isSluiceError, SluiceError } from '../../platform/kernel/errors.ts'
import { takeFromLimit } from '../../platform/rate-limits.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { PIPE_DESTINATIONS } from '../pipes/destinations.ts'
import { objectOf } from '../pipes/object-settings.ts'
import { chooseCredentials, openCredentials } from './credentials.ts'
import { type DataStore, type DataStoreChanges, type DataStoreInput, toDataStore } from './data-store.ts'
import { identityOf } from './federation.ts'
import { leastPolicy, lifecycleRules } from './policy.ts'
import { findDataStore } from './read-data-stores.ts'
import { resolvePlace } from './resolve-place.ts'
import { trustSteps } from './trust-steps.ts'
import { applyChanges } from './update-data-store.ts'

type CheckRuntime = Pick<Runtime, 'db' | 'clock' | 'vault' | 'config'>

const AT_PEACE = { rejectingSince: null, rejection: null, rejectedAt: null, recheckAt: null }
const PER_WORKSPACE = { burst: 30, refillMs: 2000 }

/**
 * The bucket doctor: checks a Data Store's bucket and stores the result. It uses the network, so do not call it inside
 * a transaction.
 */
export async function checkDataStore(runtime: CheckRuntime, actor: Actor, id: string): Promise<DataStore> {
  const { db, clock, vault, config } = runtime
  const row = await findDataStore(db, actor, id)
  await takeFromLimit(runtime, `check:${actor.workspaceId}`, PER_WORKSPACE)
  const credentials = openCredentials(vault, row)
  const { allowedPrivateHosts } = config
  const capabilities = capabilitiesOf(row.provider, row.found)
  const uses = await readObjectUses(db, id, clock.now())
  const identity = identityOf(runtime, row)
  const probe = await probeBucket(
    { ...row, credentials, capabilities },
    { allowedPrivateHosts, clock, identity, uses },
  )
  const { mayAbort, mayRead, mayDelete } = probe
  const found = { ...row.found, ...probe.found }
  const now = new Date(clock.now())
  const check = diagnose(
    probe,
    { ...row, credentials, uses, identity: { issuer: config.baseUrl, subject: identity.subject } },
    clock.now(),
  )
  const readyAt = row.readyAt ?? (check.ok ? now : null)
  // If the row has changed since, a different configuration was checked. Storing a result does not count as a change,
  // so several checks can run at the same time.
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
      ...(check.ok && AT_PEACE),
    })
    .where(unchanged)
    .returning()
  if (!after)
    throw new SluiceError('conflict', 'The Data Store was changed during the check. Check it again.')
  return toDataStore(after, runtime)
}

/**
 * Checks a Data Store after its creation, or after a change that invalidated its last check. The change stays saved
 * even if the result of the check cannot be stored.
 */
export async function checkSavedDataStore(
  runtime: CheckRuntime,
  actor: Actor,
  made: DataStore,
): Promise<DataStore> {
  return checkDataStore(runtime, actor, made.id).catch((error) => {
    if (isSluiceError(error)) return made
    throw error
  })
}

/** Checks form input without saving anything. */
export async function checkBucket(
  runtime: CheckRuntime,
  actor: Actor,
  input: DataStoreInput,
): Promise<BucketCheck> {
  const { clock, config } = runtime
  const { allowedPrivateHosts } = config
  const entered = {
    ...input,
    ...resolvePlace(input, allowedPrivateHosts),
    credentials: chooseCredentials(input.provider, input),
    prefix: input.prefix ?? '',
    storageClass: input.storageClass ?? null,
    encryption: input.encryption ?? null,
    capabilities: capabilitiesOf(input.provider, null),
  }
  await takeFromLimit(runtime, `check:${actor.workspaceId}`, PER_WORKSPACE)
  const probe = await probeBucket(entered, { allowedPrivateHosts, clock })
  return diagnose(probe, { ...entered, uses: [] }, clock.now())
}

/** Checks whether uploads would succeed with these changes, before they are saved. */
export async function checkChanges(
  runtime: CheckRuntime,
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
    credentials: chooseCredentials(after.provider, changes, openCredentials(vault, before)),
  }
  await takeFromLimit(runtime, `check:${actor.workspaceId}`, PER_WORKSPACE)
  const uses = await readObjectUses(db, id, clock.now())
  const identity = identityOf(runtime, before)
  const probe = await probeBucket(entered, { allowedPrivateHosts, clock, identity, uses })
  const shown = { issuer: config.baseUrl, subject: identity.subject }
  return diagnose(probe, { ...entered, uses, identity: shown }, clock.now())
}

type Place = Parameters<typeof leastPolicy>[0] & { endpoint: string; identity?: DataStore['identity'] }

/** What each optional permission would make possible. */
const WITHOUT: Record<string, string> = {
  GetBlob:
    'Not needed. With it (permission read), Sluice can copy blobs from here to another destination that lacks them.',
  DeleteBlob: `Not needed. Without it (permission delete), this check could not delete its small blobs in ${PROBE_FOLDER}/.`,
  AbortMultipartUpload:
    'Not needed. With it, Sluice removes unfinished uploads itself; otherwise, use the lifecycle rule.',
  GetObject:
    'Not needed. With it, Sluice can copy objects from here to another destination that lacks them. Together with DeleteObject, it also allows concatenation.',
  UploadPartCopy: 'Not needed. Without it, uploads cannot be concatenated.',
  DeleteObject: `Not needed. Without it, this check could not delete its small objects in ${PROBE_FOLDER}/.`,
}

/** A probe's result, described for the customer. */
function diagnose(probe: Probe, place: Place, nowMs: number): BucketCheck {
  const { works } = probe
  const rules = works ? lifecycleRules(place, probe) : undefined
  return {
    checkedAt: new Date(nowMs).toISOString(),
    ok: works,
    operations: probe.operations.map((operation) => ({
      name: operation.name,
      ok: operation.ok,
      message:
        message(operation, works) +
        remark(operation, probe) +
        needsOf(operation, place) +
        expiryOf(operation, place),
    })),
    policy: toPaste(place),
    ...(rules && { lifecycleRule: rules }),
  }
}

function toPaste(place: Place): string {
  const { credentials, identity } = place
  const federation = credentials && 'federation' in credentials ? credentials.federation : null
  const assumedRole = credentials && 'assumedRole' in credentials ? credentials.assumedRole : null
  const trusts = identity && (federation || assumedRole)
  const steps = trusts ? trustSteps({ ...place, identity, federation, assumedRole }) : []
  return steps[0]?.code ?? leastPolicy(place)
}

function message({ name, ok, message: said }: ProbedOperation, works: boolean): string {
  const optional = WITHOUT[name]
  if (ok || !works || !optional) return said
  // How to get a permission that is not needed would only distract.
  return `${optional} ${said.replace(/^(Refused \([^)]*\)):.*$/s, '$1.')}`
}

/** The permissions that the keys need for the object settings that the bucket refused. */
function needsOf({ name, ok, message: said }: ProbedOperation, { provider, uses }: Place): string {
  const object = uses.find((use) => use.name === name)?.object
  if (ok || !object || !said.startsWith('Refused')) return ''
  const tags = object.tags
    ? ` Tags need ${provider === 'azure' ? 'the permission t' : 's3:PutObjectTagging'}.`
    : ''
  const encrypted = object.encryption?.type === 'SSE-KMS'
  return tags + (encrypted ? ' SSE-KMS needs kms:GenerateDataKey and kms:Decrypt on the key.' : '')
}

/** When the credentials stop working, told with the first operation. */
function expiryOf({ name, ok }: ProbedOperation, { credentials }: Place): string {
  if (!ok || name !== 'PutBlob' || !credentials || !('sasToken' in credentials)) return ''
  const { expiresAt } = showSas(credentials.sasToken)
  return expiresAt ? ` The SAS expires on ${expiresAt.slice(0, 10)}.` : ''
}

/** Describes what is unusual about the bucket's checksums. */
function remark({ name, ok }: ProbedOperation, { found }: Probe): string {
  if (!ok) return ''
  if (name === 'PutObject' && found.bodyChecksum === 'md5')
    return ' The bucket does not accept CRC32 and requires Content-MD5, which costs some speed.'
  if (name === 'PutObject' && found.bodyChecksum === 'crc32') return ' The bucket requires a checksum.'
  if (name === 'PutObject' && found.bodyChecksum === null) return ' The bucket does not accept checksums.'
  if (name === 'CompleteMultipartUpload' && found.fullObjectCrc32 === false)
    return ' The bucket checks each part, but not the entire object.'
  return ''
}

/** The name of the operation that tests a Pipe's object settings. */
export const useNameOf = (pipeName: string) => `Object settings of ${pipeName}`

/** The maximum number of Pipes whose object settings are tested, since an entire check may take only nine seconds. */
const AT_MOST = 10

/** The object settings of a Data Store's Pipes, as its check tests them. */
export async function readObjectUses(db: Db, dataStoreId: string, nowMs: number): Promise<ObjectUse[]> {
  const found = await rows<{ id: string; name: string; object: PipeObject }>(
    db,
    sql`select p.id, p.name, p.object from ${PIPE_DESTINATIONS} d join pipes p on p.id = d.pipe_id
      where d.data_store_id = ${dataStoreId}::uuid and p.deleted_at is null and p.object is not null
      order by p.created_at, p.id limit ${AT_MOST}::int`,
  )
  return found.flatMap(({ id, name, object: set }) => {
    const facts = {
      fileId: id,
      filename: 'check.txt',
      folder: '',
      sender: 'check',
      pipeId: id,
      at: new Date(nowMs),
    }
    const object = objectOf(set, null, facts)
    return object ? [{ name: useNameOf(name), object }] : []
  })
}
