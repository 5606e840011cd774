import { randomBytes, randomUUID } from 'node:crypto'
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { and, eq, isNull, like, sql } from 'drizzle-orm'
import { dataStores, webhookOutputs, workspaces } from '#drizzle/schema/index.ts'
import { createAccountKey } from '../../identity/accounts/account-keys.ts'
import { hashPassword } from '../../identity/accounts/password.ts'
import { createAccount } from '../../identity/accounts/users.ts'
import type { Actor } from '../../identity/audit/record-audit.ts'
import { newWebhookSecret, uuidv7 } from '../../platform/kernel/ids.ts'
import { parseInput } from '../../platform/kernel/parse-input.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { sealsForColumns } from '../../platform/vault.ts'
import { secretPlace } from '../../webhooks/outputs/signing-secrets.ts'
import { createDataStore } from '../../workspace/data-stores/create-data-store.ts'
import { sealCredentials } from '../../workspace/data-stores/credentials.ts'
import { createPipe } from '../../workspace/pipes/create-pipe.ts'
import { pipeInput } from '../../workspace/pipes/pipe.ts'
import { createSender } from '../../workspace/senders/create-sender.ts'
import { inboxUrl } from '../inbox.ts'

type DemoRuntime = Pick<Runtime, 'db' | 'clock' | 'config' | 'vault'>

/** The key of an advisory lock: an arbitrary constant. */
const LOCK = 7_584_230_020

/**
 * Creates the demo workspace once, then keeps it. Its URLs and its bucket's folder are updated at each start, because
 * the local bucket's port may change and DATA_DIR may have been moved. The contents of `demo.json` are also sealed in
 * the database, so that a second process, or one that lost the file, writes the same contents.
 */
export async function ensureDemo(
  runtime: DemoRuntime,
  { bucket }: { bucket: DemoBucket },
): Promise<DemoDocument> {
  const document = await runtime.db.transaction(async (tx) => {
    await tx.execute(sql`select pg_advisory_xact_lock(${LOCK})`)
    const inTx = { ...runtime, db: tx }
    const [made] = await tx.select().from(workspaces).where(eq(workspaces.demo, true))
    const demo = made?.demoSealed
      ? await keepDemo(inTx, made.id, made.demoSealed, bucket)
      : await makeDemo(inTx, bucket)
    await makeReady(inTx, demo.dataStoreId, bucket)
    return demo
  })
  await writeDocument(runtime.config.dataDir, document)
  return document
}

async function keepDemo(
  runtime: DemoRuntime,
  workspaceId: string,
  sealed: string,
  bucket: DemoBucket,
): Promise<DemoDocument> {
  const { db, config, vault } = runtime
  const context = demoVaultContext(workspaceId)
  const before = JSON.parse(vault.open(sealed, context)) as DemoDocument
  // If processes with different DATA_DIRs share a PostgreSQL database, the demo keeps the bucket that it already has,
  // because the process that serves it may still be running. Buckets are distinguished by their keys instead of their
  // folders, because a DATA_DIR may have been moved or copied since.
  const ours = !config.databaseUrl || before.bucket.accessKeyId === bucket.accessKeyId
  const document: DemoDocument = {
    ...before,
    baseUrl: config.baseUrl,
    uploadUrl: config.uploadUrl,
    metricsToken: config.metricsToken ?? '',
    bucket: ours ? bucket : before.bucket,
  }
  if (JSON.stringify(document) === JSON.stringify(before)) return before
  await db
    .update(workspaces)
    .set({ demoSealed: vault.seal(JSON.stringify(document), context) })
    .where(eq(workspaces.id, workspaceId))
  await moveDataStore(runtime, workspaceId, document)
  await moveInbox(runtime, workspaceId, before.baseUrl)
  return document
}

async function moveDataStore(
  { db, clock, vault }: DemoRuntime,
  workspaceId: string,
  { dataStoreId, bucket }: DemoDocument,
): Promise<void> {
  const seal = await sealsForColumns(db, vault)
  await db
    .update(dataStores)
    .set({
      endpoint: bucket.endpoint,
      region: bucket.region,
      bucket: bucket.name,
      updatedAt: new Date(clock.now()),
      ...sealCredentials(seal, dataStoreId, bucket),
    })
    .where(and(eq(dataStores.workspaceId, workspaceId), eq(dataStores.id, dataStoreId)))
}

/** Marks the Data Store as ready without a check, because Sluice itself runs this bucket. */
async function makeReady(
  { db, clock }: DemoRuntime,
  dataStoreId: string,
  { endpoint }: DemoBucket,
): Promise<void> {
  const ours = and(
    eq(dataStores.id, dataStoreId),
    eq(dataStores.endpoint, endpoint),
    isNull(dataStores.readyAt),
  )
  await db
    .update(dataStores)
    .set({ readyAt: new Date(clock.now()) })
    .where(ours)
}

/** Only moves outputs that still point to the inbox, because the owner may have changed the URL. */
async function moveInbox({ db, config }: DemoRuntime, workspaceId: string, from: string): Promise<void> {
  const inbox = `${from}/api/inbox/`
  await db
    .update(webhookOutputs)
    .set({
      url: sql`${`${config.baseUrl}/api/inbox/`} || substr(${webhookOutputs.url}, ${inbox.length + 1}::int)`,
    })
    .where(and(eq(webhookOutputs.workspaceId, workspaceId), like(webhookOutputs.url, `${inbox}%`)))
}

async function writeDocument(dataDir: string, document: DemoDocument): Promise<void> {
  const file = join(dataDir, 'demo.json')
  const fresh = `${file}.${randomUUID()}`
  await mkdir(dataDir, { recursive: true, mode: 0o700 })
  await writeFile(fresh, `${JSON.stringify(document, null, 2)}\n`, { mode: 0o600 })
  await rename(fresh, file)
}

const EMAIL = 'demo@sluice.local'
const SENDER = 'Demo backend'

/** Creates the workspace and everything in it, in the caller's transaction. */
async function makeDemo(runtime: DemoRuntime, bucket: DemoBucket): Promise<DemoDocument> {
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
    name: 'Bucket on this server',
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

type Output = { workspaceId: string; pipeId: string; secret: string }

/** Points the demo Pipe's webhook at Sluice's own inbox. */
export async function pointWebhookAtInbox(
  { db, clock, config, vault }: Pick<Runtime, 'db' | 'clock' | 'config' | 'vault'>,
  { workspaceId, pipeId, secret }: Output,
): Promise<void> {
  const [workspace] = await db
    .select({ inboxKey: workspaces.inboxKey })
    .from(workspaces)
    .where(eq(workspaces.id, workspaceId))
  const id = uuidv7(clock.now())
  const seal = await sealsForColumns(db, vault)
  await db.insert(webhookOutputs).values({
    id,
    workspaceId,
    pipeId,
    enabled: true,
    url: inboxUrl(config, workspace!.inboxKey),
    secretEncrypted: seal(secret, secretPlace(id)),
  })
}

/** A bucket on this machine, with the keys that the demo Data Store uses and a key pair with read access. */
export type DemoBucket = {
  endpoint: string
  region: string
  name: string
  directory: string
  accessKeyId: string
  secretAccessKey: string
  reader: { accessKeyId: string; secretAccessKey: string }
}

/** `DATA_DIR/demo.json`: everything that a person or program needs to try Sluice. */
export type DemoDocument = {
  baseUrl: string
  uploadUrl: string
  email: string
  password: string
  accountKey: string
  pipeId: string
  dataStoreId: string
  senderName: string
  senderToken: string
  webhookSecret: string
  metricsToken: string
  bucket: DemoBucket
}

export const demoVaultContext = (workspaceId: string) => `demo:${workspaceId}`
