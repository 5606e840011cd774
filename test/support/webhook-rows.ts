import { randomBytes, randomUUID } from 'node:crypto'
import {
  dataStores,
  fileDestinations,
  files,
  pipes,
  webhookOutputs,
  workspaces,
} from '#drizzle/schema/index.ts'
import type { Db } from '#lib/platform/db/database.ts'
import { newPipeId, newWebhookSecret, uuidv7 } from '#lib/platform/kernel/ids.ts'
import { createVault } from '#lib/platform/vault.ts'
import { secretPlace } from '#lib/webhooks/outputs/signing-secrets.ts'

/** Creates the rows that an event refers to, for tests that start after an upload. */
export const testVault = createVault([Buffer.alloc(32, 7)])

export async function addWorkspace(db: Db): Promise<{ id: string; inboxKey: string }> {
  const row = { id: uuidv7(), name: 'A workspace', inboxKey: randomBytes(24).toString('base64url') }
  await db.insert(workspaces).values(row)
  return row
}

export async function addPipe(db: Db, workspaceId: string): Promise<string> {
  const id = newPipeId()
  await db.insert(pipes).values({
    id,
    workspaceId,
    name: 'A Pipe',
    sourceHttp: true,
    keyTemplate: '{file_id}/{filename}',
    uploadExpirySeconds: 3600,
  })
  return id
}

type OutputFields = Partial<typeof webhookOutputs.$inferInsert>

export async function addOutput(db: Db, url: string, fields: OutputFields = {}) {
  const workspaceId = fields.workspaceId ?? (await addWorkspace(db)).id
  const pipeId = fields.pipeId ?? (await addPipe(db, workspaceId))
  const id = uuidv7()
  const secret = newWebhookSecret()
  const secretEncrypted = testVault.seal(secret, secretPlace(id))
  await db
    .insert(webhookOutputs)
    .values({ id, workspaceId, pipeId, url, enabled: true, secretEncrypted, ...fields })
  return { id, workspaceId, pipeId, secret }
}

type FileFields = Partial<typeof files.$inferInsert>

export async function addFile(
  db: Db,
  { workspaceId, pipeId }: { workspaceId: string; pipeId: string },
  fields: FileFields = {},
): Promise<string> {
  const id = uuidv7()
  await db.insert(files).values({
    id,
    workspaceId,
    pipeId,
    senderName: 'Backend',
    filename: 'a film.mp4',
    filetype: 'video/mp4',
    status: 'transferred',
    lengthBytes: 11,
    offsetBytes: 11,
    crc32: 0x0d4a1185,
    metadata: { order: '7' },
    uploadMetadata: { album: 'été' },
    subject: 'user-1',
    expirySeconds: 3600,
    expiresAt: new Date(Date.now() + 3_600_000),
    ...fields,
  })
  return id
}

export async function addDestination(db: Db, workspaceId: string, fileId: string): Promise<string> {
  const id = randomUUID()
  await db.insert(dataStores).values({
    id,
    workspaceId,
    name: 'A store',
    provider: 'other',
    endpoint: 'https://s3.example.com',
    region: 'us-east-1',
    bucket: 'media',
    forcePathStyle: true,
    accessKeyIdEncrypted: 'x',
    secretAccessKeyEncrypted: 'x',
  })
  await db.insert(fileDestinations).values({
    fileId,
    dataStoreId: id,
    bucket: 'media',
    key: `${fileId}/a film.mp4`,
    status: 'transferred',
    etag: '"abc"',
  })
  return id
}
