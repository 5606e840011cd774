import { eq, sql } from 'drizzle-orm'
import { dataStores, type ProviderName, webhookOutputs } from '#drizzle/schema/index.ts'
import { createAccount } from '#lib/identity/accounts/users.ts'
import type { Actor } from '#lib/identity/audit/record-audit.ts'
import { type DatabaseHandle, rows } from '#lib/platform/db/database.ts'
import { systemClock } from '#lib/platform/kernel/clock.ts'
import { newWebhookSecret } from '#lib/platform/kernel/ids.ts'
import { parseInput } from '#lib/platform/kernel/parse-input.ts'
import type { Runtime } from '#lib/platform/runtime.ts'
import { secretPlace } from '#lib/webhooks/outputs/signing-secrets.ts'
import { createDataStore } from '#lib/workspace/data-stores/create-data-store.ts'
import { createPipe } from '#lib/workspace/pipes/create-pipe.ts'
import { pipeInput } from '#lib/workspace/pipes/pipe.ts'
import { createSender } from '#lib/workspace/senders/create-sender.ts'
import { insertLanded, PIPE, TOKEN } from '../../test/support/landed.ts'
import { makeReady } from '../../test/support/make-ready.ts'
import { testRuntime } from '../../test/support/runtime.ts'
import { addOutput, testVault } from '../../test/support/webhook-rows.ts'

/**
 * A workspace with one Pipe for each kind of provider and, optionally, one with several destinations. Each Pipe has a
 * webhook output.
 */
export type Customer = {
  runtime: Runtime
  actor: Actor
  senderToken: string
  /** A token that is valid for the entire run, if no node issues new ones. */
  token?: string
  pipes: CustomerPipe[]
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
const LANDED_BUCKET = bucketOf('other')
export const BUCKETS = [...PROVIDERS.map(bucketOf), ...COPIES.map(({ bucket }) => bucket)]

const STATUSES = ['transferred', 'failed', 'expired', 'canceled']

type Place = {
  endpoint: string
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
  const by = { runtime, actor }
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
  return { ...by, senderToken: sender.token, pipes }
}

/** The customer of the oldest version, in its schema, with one Pipe and no files yet. */
export async function addLandedCustomer(
  database: DatabaseHandle,
  { endpoint, receiverUrl }: Place,
): Promise<Customer> {
  const { db } = database
  await insertLanded(db, { endpoint })
  await db.execute(sql`truncate files, file_timeline, events, deliveries, usage_days, usage_months cascade`)
  await db.execute(sql`update data_stores set bucket = ${LANDED_BUCKET}, region = 'auto'`)
  const webhookSecret = newWebhookSecret()
  const [output] = await rows<{ id: string; workspaceId: string }>(
    db,
    sql`select id, workspace_id as "workspaceId" from webhook_outputs`,
  )
  const secretEncrypted = testVault.seal(webhookSecret, secretPlace(output!.id))
  await db.update(webhookOutputs).set({ url: receiverUrl, secretEncrypted, statuses: STATUSES })
  const runtime = { ...testRuntime(database), clock: systemClock }
  const { workspaceId } = output!
  const actor: Actor = { workspaceId, kind: 'system', id: null, label: 'test', role: 'owner' }
  return { runtime, actor, senderToken: '', token: TOKEN, pipes: [{ id: PIPE, webhookSecret }] }
}

type By = Pick<Customer, 'runtime' | 'actor'>

async function addDataStore(
  { runtime, actor }: By,
  { endpoint, accessKeyId, secretAccessKey }: Place,
  { bucket, provider }: { bucket: string; provider: ProviderName },
): Promise<string> {
  const keys = { endpoint, accessKeyId, secretAccessKey }
  const fields = { name: bucket, provider, bucket, region: 'auto', forcePathStyle: true, ...keys }
  const store = await createDataStore(runtime, actor, fields)
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
