import { sql } from 'drizzle-orm'
import { beforeAll, describe, expect, it } from 'vitest'
import { deliveries, fileDestinations, files, fileTimeline, tokens } from '#drizzle/schema/index.ts'
import { pruneExpired } from '../../../server/control-sweeps.ts'
import { describeWithDatabase } from '../../../test/support/databases.ts'
import { type TestRuntime, testRuntime } from '../../../test/support/runtime.ts'
import { addFile } from '../../../test/support/webhook-rows.ts'
import { createTestWorkspace, type TestWorkspace } from '../../../test/support/workspace.ts'
import { firstUuidAt, uuidv7 } from '../../platform/kernel/ids.ts'
import { parseInput } from '../../platform/kernel/parse-input.ts'
import { saveOutput } from '../../webhooks/outputs/save-output.ts'
import { issueToken } from '../../workspace/tokens/issue-token.ts'
import { tokenInput } from '../../workspace/tokens/token.ts'
import { cancelFile, cancelFiles, eraseFile, eraseFiles, restoreFiles, UNDO_MS } from './act-on-files.ts'
import type { File } from './file.ts'
import { fileQuery } from './file-query.ts'
import { countFiles, eachFile, listFiles } from './list-files.ts'
import { showFile } from './show-file.ts'

describeWithDatabase('files', (database) => {
  let runtime: TestRuntime
  let mine: TestWorkspace
  beforeAll(async () => {
    runtime = testRuntime(database())
    mine = await createTestWorkspace(runtime)
  })
  type Fields = Partial<typeof files.$inferInsert>
  const add = (fields: Fields = {}, customer = mine) =>
    addFile(database().db, { workspaceId: customer.workspaceId, pipeId: customer.pipe.id }, fields)
  const list = (query: Record<string, unknown> = {}, customer = mine) =>
    listFiles(runtime, customer.actor, parseInput(fileQuery, query))

  describe('the list', () => {
    let customer: TestWorkspace
    let all: string[]
    beforeAll(async () => {
      customer = await createTestWorkspace(runtime)
      all = []
      for (let n = 0; n < 25; n++) {
        const status = n % 5 === 0 ? ('failed' as const) : ('transferred' as const)
        all.unshift(await add({ filename: `photo_${n}.JPG`, status, senderId: customer.sender.id }, customer))
      }
      await add({ concat: 'partial' }, customer)
    })

    async function pages(query: Record<string, unknown>): Promise<string[]> {
      const ids: string[] = []
      let cursor: string | null = null
      do {
        const page = await list({ ...query, ...(cursor && { cursor }) }, customer)
        ids.push(...page.data.map(({ id }) => id))
        cursor = page.nextCursor
      } while (cursor)
      return ids
    }

    it('lists the files that await a decision, or were rejected, by the state of the decision', async () => {
      const hooked = await createTestWorkspace(runtime)
      const awaiting = []
      for (const decision of ['asked', 'deferred'] as const)
        awaiting.unshift(await add({ status: 'transferring', decision }, hooked))
      const rejected = await add({ status: 'failed', decision: 'rejected' }, hooked)
      await add({ status: 'transferring', decision: 'allowed' }, hooked)
      await add({ status: 'uploading', decision: 'due' }, hooked)
      await add({ status: 'failed' }, hooked)
      const idsOf = async (query: Record<string, unknown>) =>
        (await list(query, hooked)).data.map(({ id }) => id)
      expect(await idsOf({ decision: 'open' })).toEqual(awaiting)
      expect(await idsOf({ decision: 'rejected' })).toEqual([rejected])
      expect(await idsOf({ decision: 'open', status: 'failed' })).toEqual([])
    })

    it.each([1, 10, 25, 100])(
      'lists each file once, newest first, in pages of %i, without partial uploads',
      async (limit) => {
        expect(await pages({ limit })).toEqual(all)
      },
    )

    it('filters by protocol', async () => {
      const other = await createTestWorkspace(runtime)
      const [plain] = [await add({ protocol: 'http' }, other), await add({}, other)]
      expect((await list({ protocol: 'http' }, other)).data).toMatchObject([{ id: plain, protocol: 'http' }])
      expect(
        await countFiles(runtime, other.actor, parseInput(fileQuery, { protocol: 'http' })),
      ).toMatchObject({
        files: 1,
      })
    })

    it('filters by status, Sender, name and time', async () => {
      const failed = all.filter((_, n) => (24 - n) % 5 === 0)
      expect(await pages({ status: 'failed', limit: 2 })).toEqual(failed)
      expect(await pages({ status: 'failed', senderId: customer.sender.id, limit: 2 })).toEqual(failed)
      expect(await pages({ filename: 'photo_7.jpg' })).toEqual([all[17]])
      expect(await pages({ filename: 'photo%7' })).toEqual([])
      expect(await pages({ createdBefore: '2020-01-01T00:00:00Z' })).toEqual([])
      expect(await pages({ createdAfter: '2020-01-01T00:00:00Z', limit: 7 })).toEqual(all)
    })

    it.each([
      ['newest', (ids: string[]) => ids],
      ['oldest', (ids: string[]) => ids.toReversed()],
    ])('sorts %s first, and can page backward', async (order, inOrder) => {
      const whole = inOrder(all)
      expect(await pages({ order, limit: 10 })).toEqual(whole)
      const first = await list({ order, limit: 10 }, customer)
      expect(first.previousCursor).toBeNull()
      const second = await list({ order, limit: 10, cursor: first.nextCursor }, customer)
      const third = await list({ order, limit: 10, cursor: second.nextCursor }, customer)
      const back = await list({ order, limit: 10, cursor: third.previousCursor }, customer)
      expect(back.data).toEqual(second.data)
      const start = await list({ order, limit: 10, cursor: back.previousCursor }, customer)
      expect(start).toEqual(first)
      const on = await list({ order, limit: 10, cursor: back.nextCursor }, customer)
      expect(on.data).toEqual(third.data)
    })

    it('sorts by size, and can page backward', async () => {
      const sized = await createTestWorkspace(runtime)
      const made: [size: number, id: string][] = []
      for (const [n, lengthBytes] of [5, 1, 9, 9, 3, 7].entries()) {
        made.push([lengthBytes, await add({ lengthBytes, filename: `${n}` }, sized)])
      }
      const ids = made.sort((a, b) => b[0] - a[0] || (a[1] < b[1] ? 1 : -1)).map(([, id]) => id)
      const bySize = async (order: string, cursor?: string | null) => {
        const { data, ...cursors } = await list({ order, limit: 4, ...(cursor && { cursor }) }, sized)
        return { ids: data.map(({ id }) => id), ...cursors }
      }
      const first = await bySize('largest')
      expect(first).toEqual({ ids: ids.slice(0, 4), nextCursor: expect.any(String), previousCursor: null })
      const second = await bySize('largest', first.nextCursor)
      expect(second).toMatchObject({ ids: ids.slice(4), nextCursor: null })
      expect(await bySize('largest', second.previousCursor)).toEqual(first)
      expect((await bySize('smallest')).ids).toEqual(ids.toReversed().slice(0, 4))
    })

    it('searches by name, subject or id', async () => {
      const [found, other] = [all[3]!, await createTestWorkspace(runtime)]
      const told = await add({ filename: 'x.bin', subject: 'Customer-77' }, other)
      expect(await pages({ search: 'photo_7.jpg' })).toEqual([all[17]])
      expect(await pages({ search: found })).toEqual([found])
      expect(await pages({ search: 'CUSTOMER-77' })).toEqual([])
      const ids = async (search: string) => (await list({ search }, other)).data.map(({ id }) => id)
      expect(await ids('customer-77')).toEqual([told])
      expect(await ids(found)).toEqual([])
    })

    it('has totals for all matching files', async () => {
      const failed = await countFiles(runtime, customer.actor, parseInput(fileQuery, { status: 'failed' }))
      expect(failed).toEqual({ files: 5, bytes: 55, canceled: 0, ofNewest: null })
      const named = await countFiles(runtime, customer.actor, parseInput(fileQuery, { search: 'photo_1' }))
      expect(named).toEqual({ files: 11, bytes: 121, canceled: 0, ofNewest: null })
    })

    it('counts canceled uploads and their bytes separately, unless it lists only those', async () => {
      const mine = await createTestWorkspace(runtime)
      for (const status of ['transferred', 'canceled', 'canceled'] as const) await add({ status }, mine)
      const count = (query: object) => countFiles(runtime, mine.actor, parseInput(fileQuery, query))
      expect(await count({})).toMatchObject({ files: 1, bytes: 11, canceled: 2 })
      expect(await count({ status: 'canceled' })).toMatchObject({ files: 2, bytes: 22, canceled: 0 })
    })

    it('can be exported in full, in pages that are read on demand', async () => {
      const { db } = database()
      const { workspaceId, pipe, actor } = await createTestWorkspace(runtime)
      await db.execute(sql`insert into files (id, workspace_id, pipe_id, sender_name, filename, expiry_seconds, expires_at)
        select (lpad(to_hex(1767225600000 + n), 12, '0') || '7001800000000000' || lpad(to_hex(n), 4, '0'))::uuid,
          ${workspaceId}::uuid, ${pipe.id}, 'S', 'hay ' || n, 3600, now() from generate_series(1, 3000) n`)
      const pages = eachFile(runtime, actor, parseInput(fileQuery, { search: 'hay', order: 'largest' }))
      const first = await pages.next()
      expect(first.value).toHaveLength(500)
      await db.execute(
        sql`delete from files where workspace_id = ${workspaceId}::uuid and filename = 'hay 1'`,
      )
      const names = new Set((first.value as File[]).map(({ filename }) => filename))
      for await (const page of pages) for (const { filename } of page) names.add(filename)
      expect(names.size).toBe(2999)
    })

    it('continues past a window without matches', async () => {
      const { db } = database()
      const { workspaceId, pipe, actor } = await createTestWorkspace(runtime)
      const old = firstUuidAt(1)
      await addFile(db, { workspaceId, pipeId: pipe.id }, { filename: 'needle.bin', id: old })
      await db.execute(sql`insert into files (id, workspace_id, pipe_id, sender_name, filename, expiry_seconds, expires_at)
        select (lpad(to_hex(1767225600000 + n), 12, '0') || '7000800000000000' || lpad(to_hex(n), 4, '0'))::uuid,
          ${workspaceId}::uuid, ${pipe.id}, 'S', 'hay', 3600, now() from generate_series(1, 2505) n`)
      const first = await listFiles(runtime, actor, parseInput(fileQuery, { filename: 'needle' }))
      expect(first).toEqual({ data: [], nextCursor: expect.any(String), previousCursor: null })
      const next = await listFiles(
        runtime,
        actor,
        parseInput(fileQuery, { filename: 'needle', cursor: first.nextCursor }),
      )
      expect(next).toMatchObject({ data: [{ id: old }], nextCursor: null })
    })

    it.each([
      [{ limit: 101 }, 'limit'],
      [{ limit: 'x' }, 'limit'],
      [{ cursor: 'nonsense' }, 'cursor'],
      [{ status: 'lost' }, 'status'],
      [{ colour: 'red' }, 'colour'],
    ])('rejects %j, naming the field', async (query, field) => {
      await expect((async () => list(query))()).rejects.toMatchObject({ fields: [{ field }] })
    })
  })

  it('shows a file with its complete history, in order', async () => {
    const input = parseInput(tokenInput, { pipeId: mine.pipe.id })
    await issueToken(runtime, mine.sender.token, input)
    const [token] = await database().db.select().from(tokens)
    const id = await add({ tokenId: token!.id, resumeCount: 2, savedBytes: 7 })
    const at = new Date(runtime.clock.now() + 1000)
    await database().db.insert(fileTimeline).values({ id: uuidv7(), fileId: id, kind: 'created', at })
    const file = await showFile(runtime, mine.actor, id)
    expect(file).toMatchObject({
      checksum: 'crc32:0d4a1185',
      size: 11,
      offset: 11,
      resumeCount: 2,
      savedBytes: 7,
      timeline: [{ kind: 'token_issued', detail: { tokenId: token!.id } }, { kind: 'created' }],
    })
  })

  it('cancels an upload in progress with one event, but not once all its bytes have arrived', async () => {
    const output = {
      enabled: true,
      url: 'http://127.0.0.1:1/hook',
      statuses: ['transferred' as const, 'canceled' as const],
    }
    await saveOutput(runtime, mine.actor, mine.pipe.id, output)
    const id = await add({ status: 'uploading', offsetBytes: 5 })
    expect(await cancelFile(runtime, mine.actor, id)).toMatchObject({ status: 'canceled', offset: 5 })
    const told = (await database().db.select().from(deliveries)).filter(({ fileId }) => fileId === id)
    expect(told).toHaveLength(1)
    await cancelFile(runtime, mine.actor, id)
    const busy = await add({ status: 'transferring' })
    await expect(cancelFile(runtime, mine.actor, busy)).rejects.toMatchObject({ code: 'conflict' })
    const done = await add()
    await expect(cancelFile(runtime, mine.actor, done)).rejects.toMatchObject({ code: 'conflict' })
  })

  it('erases a record unless its upload is in progress', async () => {
    const underWay = await add({ status: 'uploading' })
    await expect(eraseFile(runtime, mine.actor, underWay)).rejects.toMatchObject({ code: 'conflict' })
    const id = await add()
    await eraseFile(runtime, mine.actor, id)
    await expect(showFile(runtime, mine.actor, id)).rejects.toMatchObject({ code: 'not_found' })
    const left = await database().db.select({ id: files.id }).from(files)
    expect(left.map((row) => row.id)).not.toContain(id)
  })

  it('cancels several uploads in progress, and leaves other files unchanged', async () => {
    const [one, two, done] = [
      await add({ status: 'uploading' }),
      await add({ status: 'uploading' }),
      await add(),
    ]
    const foreign = await createTestWorkspace(runtime)
    const theirs = await add({ status: 'uploading' }, foreign)
    expect(await cancelFiles(runtime, mine.actor, [one, two, done, theirs, 'no id'])).toBe(2)
    expect((await showFile(runtime, foreign.actor, theirs)).status).toBe('uploading')
    expect((await showFile(runtime, mine.actor, done)).status).toBe('transferred')
  })

  it('erases several ended uploads, which can be restored for a minute', async () => {
    const { db } = database()
    const [one, two, open] = [
      await add(),
      await add({ status: 'failed' }),
      await add({ status: 'uploading' }),
    ]
    const theirs = await add({}, await createTestWorkspace(runtime))
    const erased = await eraseFiles(runtime, mine.actor, [one, two, open, theirs])
    expect(erased.toSorted()).toEqual([one, two].toSorted())
    await pruneExpired(db, runtime.clock.now())
    await expect(showFile(runtime, mine.actor, one)).rejects.toMatchObject({ code: 'not_found' })
    expect(await restoreFiles(runtime, mine.actor, [one, theirs])).toBe(1)
    expect(await showFile(runtime, mine.actor, one)).toMatchObject({ status: 'transferred' })
    runtime.clock.advance(UNDO_MS + 1)
    expect(await restoreFiles(runtime, mine.actor, [two])).toBe(0)
    await pruneExpired(db, runtime.clock.now())
    const left = (await db.select({ id: files.id }).from(files)).map(({ id }) => id)
    expect([one, two, open].filter((id) => left.includes(id))).toEqual([one, open])
  })

  it('hides a record while its parts are still in the bucket, and deletes it once they are cleared', async () => {
    const { db } = database()
    const id = await add({ status: 'canceled' })
    const place = { fileId: id, dataStoreId: mine.dataStore.id, bucket: 'media', key: 'k', multipartId: 'm' }
    await db.insert(fileDestinations).values({ ...place, abortPending: true })
    await eraseFile(runtime, mine.actor, id)
    expect((await list()).data.map((file) => file.id)).not.toContain(id)
    const has = async () => (await db.select().from(files)).some((row) => row.id === id)
    await pruneExpired(db, runtime.clock.now())
    expect(await has()).toBe(true)
    await db.update(fileDestinations).set({ abortPending: false })
    runtime.clock.advance(UNDO_MS + 1)
    await pruneExpired(db, runtime.clock.now())
    expect(await has()).toBe(false)
  })
})
