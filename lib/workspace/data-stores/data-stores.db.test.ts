import { eq } from 'drizzle-orm'
import { beforeEach, expect, it } from 'vitest'
import { auditLog, dataStores, fileDestinations } from '#drizzle/schema/index.ts'
import { describeWithDatabase } from '../../../test/support/databases.ts'
import { makeKeyFile } from '../../../test/support/google-cloud.ts'
import { type TestRuntime, testRuntime } from '../../../test/support/runtime.ts'
import { addFile } from '../../../test/support/webhook-rows.ts'
import { createTestWorkspace, type TestWorkspace } from '../../../test/support/workspace.ts'
import { readChecklist } from '../../dashboard/overview/read-overview.ts'
import { parseInput } from '../../platform/kernel/parse-input.ts'
import { cancelUploadsOfPipe } from '../../recovery/cancel-uploads.ts'
import { deletePipe } from '../pipes/delete-pipe.ts'
import { createDataStore } from './create-data-store.ts'
import { openCredentials, secretKeyPlace } from './credentials.ts'
import { dataStoreChanges, dataStoreInput } from './data-store.ts'
import { deleteDataStore } from './delete-data-store.ts'
import { readStates, showDataStore } from './read-data-stores.ts'
import { updateDataStore } from './update-data-store.ts'

describeWithDatabase('Data Stores', (database) => {
  let runtime: TestRuntime
  let mine: TestWorkspace
  beforeEach(async () => {
    runtime = testRuntime(database())
    mine = await createTestWorkspace(runtime)
  })
  const rowOf = async (id: string) =>
    (await database().db.select().from(dataStores).where(eq(dataStores.id, id)))[0]!

  async function upload(status: 'uploading' | 'transferring' | 'transferred') {
    const { db } = database()
    const id = await addFile(db, { workspaceId: mine.workspaceId, pipeId: mine.pipe.id }, { status })
    const place = { fileId: id, dataStoreId: mine.dataStore.id, bucket: 'media', key: id }
    await db.insert(fileDestinations).values(place)
    return id
  }

  it('store their keys sealed, and show the key id but never the secret', async () => {
    const row = await rowOf(mine.dataStore.id)
    expect(row.secretAccessKeyEncrypted).not.toContain('secret-of')
    expect(runtime.vault.open(row.secretAccessKeyEncrypted, secretKeyPlace(row.id))).toBe(
      `secret-of-${mine.email}`,
    )
    expect(() => runtime.vault.open(row.secretAccessKeyEncrypted, secretKeyPlace('another'))).toThrow()
    const shown = await showDataStore(runtime, mine.actor, row.id)
    expect(shown.accessKeyId).toBe('AKIAEXAMPLE')
    expect(JSON.stringify(shown)).not.toContain('secret-of')
  })

  it('keep their keys but discard the check result when other fields change', async () => {
    await database().db.update(dataStores).set({ mayAbort: true }).where(eq(dataStores.id, mine.dataStore.id))
    const changed = await updateDataStore(runtime, mine.actor, mine.dataStore.id, { prefix: 'in/' })
    expect(changed).toMatchObject({
      prefix: 'in/',
      accessKeyId: 'AKIAEXAMPLE',
      endpoint: 'https://s3.example.com',
    })
    expect(await rowOf(mine.dataStore.id)).toMatchObject({ mayAbort: false })
    const [line] = await database()
      .db.select()
      .from(auditLog)
      .where(eq(auditLog.action, 'data_store.updated'))
    expect(line).toMatchObject({ subjectId: mine.dataStore.id, detail: { fields: ['prefix'] } })
  })

  it('are ready even without a check, unless they are turned off', async () => {
    const { db } = database()
    const { id } = mine.dataStore
    const set = (values: Partial<typeof dataStores.$inferInsert>) =>
      db.update(dataStores).set(values).where(eq(dataStores.id, id))
    const state = async () => (await readStates(db, [id])).get(id)
    await set({ readyAt: null })
    expect(await state()).toBe('unchecked')
    expect((await readChecklist(runtime, mine.actor)).checklist).toMatchObject({ bucketTakesFiles: false })
    await set({ readyAt: new Date() })
    expect(await state()).toBe('ready')
    expect((await readChecklist(runtime, mine.actor)).checklist).toMatchObject({ bucketTakesFiles: true })
    await set({ turnedOffAt: new Date() })
    expect(await state()).toBe('off')
    expect(await readStates(db, [])).toEqual(new Map())
  })

  it("update the endpoint for a new region, and take a new provider's endpoint from its preset", async () => {
    const input = { name: 'A', provider: 'aws' as const, region: 'eu-central-1', bucket: 'media' }
    const keys = { accessKeyId: 'K', secretAccessKey: 's' }
    const { id } = await createDataStore(runtime, mine.actor, { ...input, ...keys })
    expect(await updateDataStore(runtime, mine.actor, id, { region: 'us-east-1' })).toMatchObject({
      endpoint: 'https://s3.us-east-1.amazonaws.com',
    })
    expect(await updateDataStore(runtime, mine.actor, id, { region: 'cn-north-1' })).toMatchObject({
      endpoint: 'https://s3.cn-north-1.amazonaws.com.cn',
    })
    expect(await updateDataStore(runtime, mine.actor, id, { provider: 'gcs' })).toMatchObject({
      endpoint: 'https://storage.googleapis.com',
      region: 'auto',
      forcePathStyle: true,
    })
  })

  const { file } = makeKeyFile()
  const google = (fields: object) =>
    parseInput(dataStoreInput, { name: 'Google', provider: 'gcs', bucket: 'media', ...fields })
  const pair = { accessKeyId: 'GOOG1EXAMPLE', secretAccessKey: 'hmac-secret' }

  it("can have a service account's key, which is sealed and never shown, or an HMAC key in its place", async () => {
    const input = google({ serviceAccountKey: JSON.stringify(file) })
    const made = await createDataStore(runtime, mine.actor, input)
    const { client_email: email, private_key: privateKey, token_uri: tokenUrl } = file
    expect(made).toMatchObject({ accessKeyId: 'key-1', serviceAccount: email })
    expect(JSON.stringify(made)).not.toContain('PRIVATE KEY')
    const row = await rowOf(made.id)
    expect(JSON.stringify(row)).not.toContain('PRIVATE KEY')
    expect(openCredentials(runtime.vault, row)).toEqual({ email, keyId: 'key-1', privateKey, tokenUrl })
    const change = (fields: object) =>
      updateDataStore(runtime, mine.actor, made.id, parseInput(dataStoreChanges, fields))
    expect(await change({ prefix: 'in/' })).toMatchObject({ serviceAccount: email })
    await expect(change({ accessKeyId: 'GOOG1EXAMPLE' })).rejects.toThrow('secretAccessKey is required')
    await expect(change({ provider: 'aws', region: 'eu-central-1' })).rejects.toThrow(
      'accessKeyId is required',
    )
    expect(await change(pair)).toMatchObject({ accessKeyId: 'GOOG1EXAMPLE', serviceAccount: null })
    const next = JSON.stringify({ ...file, private_key_id: 'key-2' })
    expect(await change({ serviceAccountKey: next })).toMatchObject({ accessKeyId: 'key-2' })
  })

  it.each<[string, object, string]>([
    ['no credentials', {}, 'accessKeyId is required; secretAccessKey is required'],
    ['two kinds', { ...pair, serviceAccountKey: JSON.stringify(file) }, 'cannot be combined'],
    [
      'a key file elsewhere',
      { provider: 'b2', region: 'us-west-004', serviceAccountKey: JSON.stringify(file) },
      'gcs',
    ],
    ['text', { serviceAccountKey: 'secret' }, 'is not a key file'],
    ['a user', { serviceAccountKey: JSON.stringify({ ...file, type: 'authorized_user' }) }, 'no valid type'],
    [
      'a cut key',
      { serviceAccountKey: JSON.stringify({ ...file, private_key: 'x' }) },
      'no valid private_key',
    ],
    [
      'a file address',
      { serviceAccountKey: JSON.stringify({ ...file, token_uri: 'file:///x' }) },
      'token_uri',
    ],
    [
      'a file as secret',
      { accessKeyId: 'K', secretAccessKey: JSON.stringify(file) },
      'belongs in serviceAccountKey',
    ],
  ])('reject credentials with %s, and say what is wrong', async (_, fields, message) => {
    const creating = (async () => createDataStore(runtime, mine.actor, google(fields)))()
    await expect(creating).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining(message),
    })
    await expect(creating).rejects.not.toThrow('PRIVATE')
  })

  it('reject a new address while uploads are in progress, stating how many, but accept other changes', async () => {
    await upload('uploading')
    await upload('transferring')
    await upload('transferred')
    const { id } = mine.dataStore
    for (const place of [
      { bucket: 'another' },
      { endpoint: 'https://s3.example.org' },
      { forcePathStyle: false },
    ]) {
      await expect(updateDataStore(runtime, mine.actor, id, place)).rejects.toMatchObject({
        code: 'conflict',
        message: expect.stringMatching(/^2 uploads are in progress/),
      })
    }
    expect(await updateDataStore(runtime, mine.actor, id, { name: 'New', accessKeyId: 'K2' })).toMatchObject({
      name: 'New',
      accessKeyId: 'K2',
    })
  })

  it('cannot be deleted while Pipes use them, and the error names the Pipes; deletion erases their keys', async () => {
    const { id } = mine.dataStore
    await expect(deleteDataStore(runtime, mine.actor, id)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('“Photos”'),
    })
    await upload('transferring')
    await deletePipe(runtime, mine.actor, mine.pipe.id, cancelUploadsOfPipe(runtime))
    await expect(deleteDataStore(runtime, mine.actor, id)).rejects.toMatchObject({
      message: expect.stringMatching(/^1 upload is still/),
    })
    await database().db.delete(fileDestinations).where(eq(fileDestinations.dataStoreId, id))
    await deleteDataStore(runtime, mine.actor, id)
    expect(await rowOf(id)).toMatchObject({ accessKeyIdEncrypted: '', secretAccessKeyEncrypted: '' })
    await expect(showDataStore(runtime, mine.actor, id)).rejects.toMatchObject({ code: 'not_found' })
  })
})
