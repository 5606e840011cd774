import { randomUUID } from 'node:crypto'
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { and, eq, isNull, like, sql } from 'drizzle-orm'
import { dataStores, webhookOutputs, workspaces } from '#drizzle/schema/index.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { sealsForColumns } from '../../platform/vault.ts'
import { accessKeyPlace, secretKeyPlace } from '../../workspace/data-stores/data-store.ts'
import { type DemoBucket, type DemoDocument, demoVaultContext } from './demo-document.ts'
import { makeDemo } from './make-demo.ts'

/**
 * The demo workspace: made once, then kept. Its addresses and its bucket's folder follow those of this start, since
 * the local bucket's port may change and DATA_DIR may have moved. What `demo.json` says is sealed in the database too, so that a second process, or one that
 * lost the file, writes the same.
 */
type Needs = Pick<Runtime, 'db' | 'clock' | 'config' | 'vault'>

/** Any fixed number does; it is the lock's name. */
const LOCK = 7_584_230_020

export async function ensureDemo(runtime: Needs, { bucket }: { bucket: DemoBucket }): Promise<DemoDocument> {
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
  runtime: Needs,
  workspaceId: string,
  sealed: string,
  bucket: DemoBucket,
): Promise<DemoDocument> {
  const { db, config, vault } = runtime
  const context = demoVaultContext(workspaceId)
  const before = JSON.parse(vault.open(sealed, context)) as DemoDocument
  // On a shared PostgreSQL the bucket of another DATA_DIR stays the demo's, since both may be running. Keys tell them
  // apart and folders do not: a DATA_DIR may have been moved or copied since.
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
  { db, clock, vault }: Needs,
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
      accessKeyIdEncrypted: seal(bucket.accessKeyId, accessKeyPlace(dataStoreId)),
      secretAccessKeyEncrypted: seal(bucket.secretAccessKey, secretKeyPlace(dataStoreId)),
    })
    .where(and(eq(dataStores.workspaceId, workspaceId), eq(dataStores.id, dataStoreId)))
}

/** The bucket is Sluice's own: nobody has to check it first. */
async function makeReady({ db, clock }: Needs, dataStoreId: string, { endpoint }: DemoBucket): Promise<void> {
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

/** Only what still points at the inbox: the owner may have given another address. */
async function moveInbox({ db, config }: Needs, workspaceId: string, from: string): Promise<void> {
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
