import { randomBytes } from 'node:crypto'
import { eq } from 'drizzle-orm'
import { workspaces } from '#drizzle/schema/index.ts'
import { createAccountKey } from '../../identity/accounts/account-keys.ts'
import { createAccount } from '../../identity/accounts/create-account.ts'
import { hashPassword } from '../../identity/accounts/password.ts'
import type { Actor } from '../../identity/audit/record-audit.ts'
import { newWebhookSecret } from '../../platform/kernel/ids.ts'
import { parseInput } from '../../platform/kernel/parse-input.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { createDataStore } from '../../workspace/data-stores/create-data-store.ts'
import { createPipe } from '../../workspace/pipes/create-pipe.ts'
import { pipeInput } from '../../workspace/pipes/pipe.ts'
import { createSender } from '../../workspace/senders/create-sender.ts'
import { type DemoBucket, type DemoDocument, demoVaultContext } from './demo-document.ts'
import { pointWebhookAtInbox } from './point-webhook-at-inbox.ts'

const EMAIL = 'demo@sluice.local'
const SENDER = 'Demo backend'

type Needs = Pick<Runtime, 'db' | 'clock' | 'config' | 'vault'>

/** The workspace and everything in it, in the caller's transaction. */
export async function makeDemo(runtime: Needs, bucket: DemoBucket): Promise<DemoDocument> {
  const password = randomBytes(15).toString('base64url')
  const { workspaceId, userId } = await createAccount(runtime, {
    email: EMAIL,
    name: 'Demo',
    passwordHash: await hashPassword(password),
    emailVerified: true,
    demo: true,
  })
  const actor: Actor = { workspaceId, kind: 'system', id: userId, label: 'Sluice', role: 'owner' }
  const dataStore = await createDataStore(runtime, actor, {
    name: 'Bucket on this machine',
    provider: 'other',
    endpoint: bucket.endpoint,
    region: bucket.region,
    bucket: bucket.name,
    forcePathStyle: true,
    accessKeyId: bucket.accessKeyId,
    secretAccessKey: bucket.secretAccessKey,
  })
  const fields = { name: 'Demo Pipe', dataStoreId: dataStore.id, source: { http: true } }
  const pipe = await createPipe(runtime, actor, parseInput(pipeInput, fields))
  const sender = await createSender(runtime, actor, { name: SENDER })
  const accountKey = await createAccountKey(runtime, actor, { name: 'Demo key' })
  const webhookSecret = newWebhookSecret()
  await pointWebhookAtInbox(runtime, { workspaceId, pipeId: pipe.id, secret: webhookSecret })
  const document: DemoDocument = {
    baseUrl: runtime.config.baseUrl,
    uploadUrl: runtime.config.uploadUrl,
    email: EMAIL,
    password,
    accountKey: accountKey.key,
    pipeId: pipe.id,
    dataStoreId: dataStore.id,
    senderName: SENDER,
    senderToken: sender.token,
    webhookSecret,
    metricsToken: runtime.config.metricsToken ?? '',
    bucket,
  }
  const demoSealed = runtime.vault.seal(JSON.stringify(document), demoVaultContext(workspaceId))
  await runtime.db.update(workspaces).set({ demoSealed }).where(eq(workspaces.id, workspaceId))
  return document
}
