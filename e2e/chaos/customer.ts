import { eq } from 'drizzle-orm'
import { dataStores, type ProviderName } from '#drizzle/schema/index.ts'
import { createAccount } from '#lib/identity/accounts/users.ts'
import type { Actor } from '#lib/identity/audit/record-audit.ts'
import type { DatabaseHandle } from '#lib/platform/db/database.ts'
import { systemClock } from '#lib/platform/kernel/clock.ts'
import { parseInput } from '#lib/platform/kernel/parse-input.ts'
import type { Runtime } from '#lib/platform/runtime.ts'
import { createDataStore } from '#lib/workspace/data-stores/create-data-store.ts'
import { createPipe } from '#lib/workspace/pipes/create-pipe.ts'
import { pipeInput } from '#lib/workspace/pipes/pipe.ts'
import { createSender } from '#lib/workspace/senders/create-sender.ts'
import { issueToken } from '#lib/workspace/tokens/issue-token.ts'
import { tokenInput } from '#lib/workspace/tokens/token.ts'
import { testRuntime } from '../../test/support/runtime.ts'
import { addOutput } from '../../test/support/webhook-rows.ts'
import { makeReady } from '../../test/support/workspace.ts'
import { roleOf } from './temporary-keys.ts'

/**
 * A workspace with one Pipe for each kind of provider and, optionally, one with several destinations. Each Pipe has a
 * webhook output.
 */
export type Customer = {
  runtime: Runtime
  actor: Actor
  senderToken: string
  /** Issues an upload token without a node. */
  issueToken(pipeId: string): Promise<string>
  pipes: CustomerPipe[]
  /** Whom each role trusts. */
  subjects: Record<string, string>
}
type CustomerPipe = { id: string; webhookSecret: string }

/** A provider that guarantees nothing, one that verifies all checksums, and one that requires equal parts. */
const PROVIDERS = ['other', 'minio', 'r2'] as const satisfies ProviderName[]
const bucketOf = (provider: ProviderName) => `bucket-of-${provider}`

/** A best-effort bucket that no other Pipe uses, so that the run can break it. */
export const SPARE_BUCKET = 'spare-copies'
const COPIES = [
  { bucket: 'first-copies', provider: 'minio', required: true },
  { bucket: 'second-copies', provider: 'r2', required: true },
  { bucket: SPARE_BUCKET, provider: 'other', required: false },
] as const
export const BUCKETS = [...PROVIDERS.map(bucketOf), ...COPIES.map(({ bucket }) => bucket)]

const STATUSES = ['transferred', 'failed', 'expired', 'canceled']

type Place = {
  endpoint: string
  /** Where Data Stores exchange statements for temporary keys, if their provider allows it. */
  cloudEndpoint: string | undefined
  accessKeyId: string
  secretAccessKey: string
  receiverUrl: string
  putOnly: boolean
  severalDestinations: boolean
}

export async function addCustomer(database: DatabaseHandle, place: Place): Promise<Customer> {
  const runtime = { ...testRuntime(database), clock: systemClock }
  const account = { email: 'customer@example.com', passwordHash: null, emailVerified: true }
  const { workspaceId } = await createAccount(runtime, account)
  const actor: Actor = { workspaceId, kind: 'system', id: null, label: 'test', role: 'owner' }
  const by = { runtime, actor, subjects: {} }
  const pipes: CustomerPipe[] = []
  for (const provider of PROVIDERS) {
    const dataStoreId = await addDataStore(by, place, { bucket: bucketOf(provider), provider })
    pipes.push(await addPipe(by, place, { name: provider, dataStoreId }))
  }
  if (place.severalDestinations) {
    const destinations: { dataStoreId: string; required: boolean }[] = []
    for (const { required, ...copy } of COPIES)
      destinations.push({ dataStoreId: await addDataStore(by, place, copy), required })
    await allowCopies(database, place, destinations)
    pipes.push(await addPipe(by, place, { name: 'copies', destinations }))
  }
  const sender = await createSender(runtime, actor, { name: 'Backend' })
  return {
    ...by,
    senderToken: sender.token,
    pipes,
    issueToken: async (pipeId) =>
      (await issueToken(runtime, sender.token, parseInput(tokenInput, { pipeId }))).token,
  }
}

type By = Pick<Customer, 'runtime' | 'actor' | 'subjects'>

async function addDataStore(
  { runtime, actor, subjects }: By,
  { endpoint, cloudEndpoint, accessKeyId, secretAccessKey }: Place,
  { bucket, provider }: { bucket: string; provider: ProviderName },
): Promise<string> {
  const role = roleOf(bucket)
  const credentials =
    cloudEndpoint && provider !== 'r2'
      ? { endpoint: cloudEndpoint, federation: { role } }
      : { endpoint, accessKeyId, secretAccessKey }
  const fields = { name: bucket, provider, bucket, region: 'auto', forcePathStyle: true, ...credentials }
  const store = await createDataStore(runtime, actor, fields)
  subjects[role] = store.identity.subject
  await makeReady(runtime.db, store)
  return store.id
}

async function addPipe(
  { runtime, actor }: By,
  { receiverUrl }: Place,
  fields: object,
): Promise<CustomerPipe> {
  const input = parseInput(pipeInput, { ...fields, source: { http: true } })
  const { id } = await createPipe(runtime, actor, input)
  const to = { workspaceId: actor.workspaceId, pipeId: id, statuses: STATUSES }
  return { id, webhookSecret: (await addOutput(runtime.db, receiverUrl, to)).secret }
}

/** Sets the permissions that a Data Store check would detect. A repair reads objects if that is allowed. */
async function allowCopies(
  { db }: DatabaseHandle,
  { putOnly }: Place,
  destinations: readonly { dataStoreId: string }[],
): Promise<void> {
  const may = { mayRead: !putOnly, mayAbort: !putOnly, mayDelete: !putOnly }
  for (const { dataStoreId } of destinations)
    await db.update(dataStores).set(may).where(eq(dataStores.id, dataStoreId))
}
