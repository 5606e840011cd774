import type { ProviderName } from '#drizzle/schema/index.ts'
import { createAccount } from '#lib/identity/accounts/create-account.ts'
import type { Actor } from '#lib/identity/audit/record-audit.ts'
import type { DatabaseHandle } from '#lib/platform/db/database.ts'
import { systemClock } from '#lib/platform/kernel/clock.ts'
import { parseInput } from '#lib/platform/kernel/parse-input.ts'
import { createDataStore } from '#lib/workspace/data-stores/create-data-store.ts'
import { createPipe } from '#lib/workspace/pipes/create-pipe.ts'
import { pipeInput } from '#lib/workspace/pipes/pipe.ts'
import { createSender } from '#lib/workspace/senders/create-sender.ts'
import { makeReady } from '../../test/support/make-ready.ts'
import { testRuntime } from '../../test/support/runtime.ts'
import { addOutput } from '../../test/support/webhook-rows.ts'

/** A workspace with one Pipe for each kind of provider, all with a webhook output. */
export type Customer = { workspaceId: string; senderToken: string; pipes: CustomerPipe[] }
type CustomerPipe = { id: string; provider: ProviderName; webhookSecret: string }

/** One that promises nothing, one that checks all checksums, one that wants equal parts. */
const PROVIDERS = ['other', 'minio', 'r2'] as const satisfies ProviderName[]
const bucketOf = (provider: ProviderName) => `bucket-of-${provider}`
export const BUCKETS = PROVIDERS.map(bucketOf)

type Place = { endpoint: string; accessKeyId: string; secretAccessKey: string; receiverUrl: string }

export async function addCustomer(database: DatabaseHandle, place: Place): Promise<Customer> {
  const runtime = { ...testRuntime(database), clock: systemClock }
  const { endpoint, accessKeyId, secretAccessKey, receiverUrl } = place
  const account = { email: 'customer@example.com', passwordHash: null, emailVerified: true }
  const { workspaceId } = await createAccount(runtime, account)
  const actor: Actor = { workspaceId, kind: 'system', id: null, label: 'test', role: 'owner' }
  const pipes: CustomerPipe[] = []
  for (const provider of PROVIDERS) {
    const store = await createDataStore(runtime, actor, {
      name: provider,
      provider,
      endpoint,
      bucket: bucketOf(provider),
      accessKeyId,
      secretAccessKey,
      region: 'auto',
      forcePathStyle: true,
    })
    await makeReady(runtime.db, store)
    const fields = { name: provider, dataStoreId: store.id, source: { http: true } }
    const { id } = await createPipe(runtime, actor, parseInput(pipeInput, fields))
    const statuses = ['transferred', 'failed', 'expired', 'canceled']
    const output = await addOutput(database.db, receiverUrl, { workspaceId, pipeId: id, statuses })
    pipes.push({ id, provider, webhookSecret: output.secret })
  }
  const sender = await createSender(runtime, actor, { name: 'Backend' })
  return { workspaceId, senderToken: sender.token, pipes }
}
