import { eq } from 'drizzle-orm'
import { dataStores } from '#drizzle/schema/index.ts'
import { createAccountKey } from '#lib/identity/accounts/account-keys.ts'
import { createAccount } from '#lib/identity/accounts/users.ts'
import type { Actor } from '#lib/identity/audit/record-audit.ts'
import type { Db } from '#lib/platform/db/database.ts'
import { parseInput } from '#lib/platform/kernel/parse-input.ts'
import { createDataStore } from '#lib/workspace/data-stores/create-data-store.ts'
import { createPipe } from '#lib/workspace/pipes/create-pipe.ts'
import { pipeInput } from '#lib/workspace/pipes/pipe.ts'
import { createSender } from '#lib/workspace/senders/create-sender.ts'
import type { TestRuntime } from './runtime.ts'

let made = 0

/** Creates a customer with one object of each kind, using the application's own functions. */
export async function createTestWorkspace(runtime: TestRuntime, passwordHash: string | null = null) {
  const email = `customer-${++made}@example.com`
  const { userId, workspaceId } = await createAccount(runtime, { email, passwordHash, emailVerified: true })
  const actor: Actor = { workspaceId, kind: 'user', id: userId, label: email, role: 'owner' }
  const accountKey = await createAccountKey(runtime, actor, { name: 'Test key' })
  const dataStore = await createDataStore(runtime, actor, {
    name: 'Bucket',
    provider: 'other',
    endpoint: 'https://s3.example.com',
    region: 'us-east-1',
    bucket: 'media',
    accessKeyId: 'AKIAEXAMPLE',
    secretAccessKey: `secret-of-${email}`,
  })
  await makeReady(runtime.db, dataStore)
  const fields = { name: 'Photos', dataStoreId: dataStore.id, source: { http: true, url: true } }
  const pipe = await createPipe(runtime, actor, parseInput(pipeInput, fields))
  const sender = await createSender(runtime, actor, { name: 'Backend' })
  return { email, userId, workspaceId, actor, accountKey, dataStore, pipe, sender }
}

export type TestWorkspace = Awaited<ReturnType<typeof createTestWorkspace>>

/** Puts a Data Store into the state that follows a successful check. */
export async function makeReady(db: Db, { id }: { id: string }): Promise<void> {
  await db.update(dataStores).set({ readyAt: new Date() }).where(eq(dataStores.id, id))
}
