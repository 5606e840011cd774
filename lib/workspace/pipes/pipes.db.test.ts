import { eq } from 'drizzle-orm'
import { beforeEach, expect, it } from 'vitest'
import { auditLog, dataStores, files, pipes } from '#drizzle/schema/index.ts'
import { describeWithDatabase } from '../../../test/support/databases.ts'
import { type TestRuntime, testRuntime } from '../../../test/support/runtime.ts'
import { addFile } from '../../../test/support/webhook-rows.ts'
import { createTestWorkspace, type TestWorkspace } from '../../../test/support/workspace.ts'
import { isSluiceError } from '../../platform/kernel/errors.ts'
import { parseInput } from '../../platform/kernel/parse-input.ts'
import { cancelUploadsOfDeletedPipes, cancelUploadsOfPipe } from '../../recovery/cancel-uploads.ts'
import { createDataStore } from '../data-stores/create-data-store.ts'
import { dataStoreInput } from '../data-stores/data-store.ts'
import { deleteDataStore } from '../data-stores/delete-data-store.ts'
import { createPipe } from './create-pipe.ts'
import { deletePipe, previewPipeDeletion } from './delete-pipe.ts'
import { destinationsField, readDestinations, saveDestinations } from './destinations.ts'
import { pipeChanges, pipeInput } from './pipe.ts'
import { listPipes, showPipe } from './read-pipes.ts'
import { updatePipe } from './update-pipe.ts'

const ID = '019a0000-0000-7000-8000-000000000000'
const originOf = (length: number) => 'https://'.padEnd(length, 'a')

it.each([
  [{ name: '' }, 'name'],
  [{ dataStoreId: 'x' }, 'dataStoreId'],
  [{ destinations: [] }, 'destinations'],
  [{ source: { http: 1 } }, 'source.http'],
  [{ source: { smb: true } }, 'source.smb'],
  [{ keyTemplate: '{filename}' }, 'keyTemplate'],
  [{ maxFileBytes: 0 }, 'maxFileBytes'],
  [{ allowedTypes: ['images'] }, 'allowedTypes.0'],
  [{ allowedOrigins: ['www.example.com'] }, 'allowedOrigins.0'],
  [{ allowedOrigins: ['https://www.example.com/page'] }, 'allowedOrigins.0'],
  [{ allowedOrigins: [originOf(256)] }, 'allowedOrigins.0'],
  [{ uploadExpirySeconds: 3599 }, 'uploadExpirySeconds'],
  [{ uploadExpirySeconds: 2_592_001 }, 'uploadExpirySeconds'],
  [{ colour: 'red' }, 'colour'],
])('rejects %j, naming the field', (fields, field) => {
  try {
    parseInput(pipeInput, { name: 'A', dataStoreId: ID, ...fields })
    expect.unreachable()
  } catch (error) {
    expect(isSluiceError(error) && error.fields![0]!.field).toBe(field)
  }
})

it.each([
  [[], 'at least one destination'],
  [[{ dataStoreId: 'x' }], 'id of a Data Store'],
  [[{ dataStoreId: ID, required: false }], 'at least one required destination'],
  [[{ dataStoreId: ID }, { dataStoreId: ID }], 'the same Data Store twice'],
  [Array.from({ length: 6 }, (_, n) => ({ dataStoreId: ID.replace(/0$/, String(n)) })), 'at most 5'],
])('rejects the destinations %j', (destinations, words) => {
  const judged = destinationsField.safeParse(destinations)
  expect(judged.error?.issues.map(({ message }) => message).join()).toContain(words)
})

it('accepts an origin of 255 characters', () => {
  const fields = { name: 'A', dataStoreId: ID, allowedOrigins: [originOf(255)] }
  expect(parseInput(pipeInput, fields).allowedOrigins).toEqual([originOf(255)])
})

describeWithDatabase('Pipes', (database) => {
  let runtime: TestRuntime
  let mine: TestWorkspace
  beforeEach(async () => {
    runtime = testRuntime(database())
    mine = await createTestWorkspace(runtime)
  })
  const add = (status: 'uploading' | 'transferring' | 'transferred') =>
    addFile(database().db, { workspaceId: mine.workspaceId, pipeId: mine.pipe.id }, { status })
  const statusOf = async (id: string) =>
    (await database().db.select().from(files).where(eq(files.id, id)))[0]!.status

  it('start with their source off, the default template and their own upload address', async () => {
    const input = parseInput(pipeInput, { name: 'Plain', dataStoreId: mine.dataStore.id })
    const pipe = await createPipe(runtime, mine.actor, input)
    expect(pipe).toMatchObject({
      source: { http: false },
      keyTemplate: '{file_id}/{filename}',
      maxFileBytes: null,
      uploadExpirySeconds: 604_800,
      uploadUrl: `http://localhost:3000/pipes/${pipe.id}/files/`,
    })
  })

  it('change only in the given fields', async () => {
    const given = { source: { http: false }, allowedOrigins: ['https://www.example.com/'], maxFileBytes: 5 }
    const changed = await updatePipe(runtime, mine.actor, mine.pipe.id, parseInput(pipeChanges, given))
    const source = { http: false, url: true, sftp: false, ftps: false, ftp: false }
    expect(changed).toEqual({ ...mine.pipe, ...given, source, allowedOrigins: ['https://www.example.com'] })
    const again = await updatePipe(runtime, mine.actor, mine.pipe.id, { maxFileBytes: null })
    expect(again).toEqual({ ...changed, maxFileBytes: null })
    expect(await showPipe(runtime, mine.actor, mine.pipe.id)).toEqual(again)
  })

  it("cannot replace their Data Store's encryption key", async () => {
    const { actor, dataStore, pipe } = mine
    const key = (keyId: string) => ({ type: 'SSE-KMS', keyId })
    const set = (encryption: object) =>
      updatePipe(runtime, actor, pipe.id, parseInput(pipeChanges, { object: { encryption } }))
    await set({ type: 'SSE-S3' })
    await database()
      .db.update(dataStores)
      .set({ encryption: { type: 'SSE-KMS', keyId: 'ours' } })
      .where(eq(dataStores.id, dataStore.id))
    const refused = {
      fields: [{ field: 'object.encryption', message: expect.stringContaining('its own key') }],
    }
    await expect(set({ type: 'SSE-S3' })).rejects.toMatchObject(refused)
    await expect(set(key('another'))).rejects.toMatchObject(refused)
    expect((await set(key('ours'))).object).toEqual({ encryption: key('ours') })
    const input = { name: 'Next', dataStoreId: dataStore.id, object: { encryption: { type: 'SSE-S3' } } }
    await expect(createPipe(runtime, actor, parseInput(pipeInput, input))).rejects.toMatchObject(refused)
  })

  it('have one to five destinations in order, each a different Data Store, at least one of them required', async () => {
    const { actor, pipe } = mine
    const input = parseInput(dataStoreInput, {
      name: 'Second',
      provider: 'other',
      endpoint: 'https://s3.example.com',
      region: 'us-east-1',
      bucket: 'copies',
      accessKeyId: 'AKIAEXAMPLE',
      secretAccessKey: 'secret',
    })
    const second = await createDataStore(runtime, actor, input)
    const destinations = [
      { dataStoreId: second.id, required: false },
      { dataStoreId: mine.dataStore.id, required: true },
    ]
    await saveDestinations(database().db, actor, pipe.id, destinations)
    expect((await readDestinations(database().db, [pipe.id])).get(pipe.id)).toEqual(destinations)
    expect((await showPipe(runtime, actor, pipe.id)).dataStoreId).toBe(second.id)
    for (const used of [second.id, mine.dataStore.id])
      await expect(deleteDataStore(runtime, actor, used)).rejects.toThrow('Used by “Photos”')

    const stranger = await createTestWorkspace(runtime)
    const theirs = [...destinations, { dataStoreId: stranger.dataStore.id, required: true }]
    await expect(saveDestinations(database().db, actor, pipe.id, theirs)).rejects.toMatchObject({
      fields: [{ field: 'destinations.2.dataStoreId' }],
    })
    const change = (fields: object) => updatePipe(runtime, actor, pipe.id, parseInput(pipeChanges, fields))
    const swapped = destinations.toReversed()
    expect(await change({ destinations: swapped })).toMatchObject({
      dataStoreId: mine.dataStore.id,
      destinations: swapped,
    })
    // A response may be sent back as input.
    const { dataStoreId, destinations: answered } = await change({ name: 'Still two' })
    expect(await change({ dataStoreId, destinations: answered })).toMatchObject({ destinations: swapped })
    expect(() => parseInput(pipeChanges, { dataStoreId: second.id, destinations: answered })).toThrow(
      expect.objectContaining({ fields: [expect.objectContaining({ field: 'dataStoreId' })] }),
    )
    const one = { dataStoreId: mine.dataStore.id }
    expect((await change(one)).destinations).toEqual([{ ...one, required: true }])
    const made = parseInput(pipeInput, { name: 'Two at once', destinations })
    expect((await createPipe(runtime, actor, made)).destinations).toEqual(destinations)
  })

  it('are listed newest first, page by page', async () => {
    const made = [mine.pipe.id]
    for (let n = 0; n < 5; n++) {
      if (n % 2) runtime.clock.advance(1)
      const input = parseInput(pipeInput, { name: `P${n}`, dataStoreId: mine.dataStore.id })
      made.unshift((await createPipe(runtime, mine.actor, input)).id)
    }
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const page = await listPipes(runtime, mine.actor, { limit: 2, cursor })
      seen.push(...page.data.map(({ id }) => id))
      cursor = page.nextCursor ?? undefined
    } while (cursor)
    expect([...seen].sort()).toEqual([...made].sort())
    expect(seen).toHaveLength(6)
  })

  it('show how many uploads their deletion would cancel; deletion cancels these and keeps transferred files', async () => {
    const [a, b, busy, done] = [
      await add('uploading'),
      await add('uploading'),
      await add('transferring'),
      await add('transferred'),
    ]
    expect(await previewPipeDeletion(runtime, mine.actor, mine.pipe.id)).toEqual({ uploadsUnderWay: 2 })
    expect(await deletePipe(runtime, mine.actor, mine.pipe.id, cancelUploadsOfPipe(runtime))).toEqual({
      canceledUploads: 2,
    })
    expect(await Promise.all([a, b, busy, done].map(statusOf))).toEqual([
      'canceled',
      'canceled',
      'transferring',
      'transferred',
    ])
    await expect(showPipe(runtime, mine.actor, mine.pipe.id)).rejects.toMatchObject({
      code: 'pipe_not_found',
    })
    const log = await database().db.select().from(auditLog).where(eq(auditLog.subjectId, mine.pipe.id))
    expect(log.map(({ action }) => action)).toEqual(['pipe.created', 'pipe.deleted'])
  })

  it('have their uploads canceled later if the process crashes while deleting them', async () => {
    const id = await add('uploading')
    await database().db.update(pipes).set({ deletedAt: new Date() }).where(eq(pipes.id, mine.pipe.id))
    expect(await cancelUploadsOfDeletedPipes(runtime)).toBe(1)
    expect(await statusOf(id)).toBe('canceled')
  })
})
