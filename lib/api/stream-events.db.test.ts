import { expect, it } from 'vitest'
import { members } from '#drizzle/schema/index.ts'
import { describeWithDatabase } from '../../test/support/databases.ts'
import { type TestRuntime, testRuntime } from '../../test/support/runtime.ts'
import { addFile } from '../../test/support/webhook-rows.ts'
import { createTestWorkspace } from '../../test/support/workspace.ts'
import { emitFileEvent } from '../events/emit-file-event.ts'
import { revokeAccountKey } from '../identity/accounts/account-keys.ts'
import { hours, minutes, seconds } from '../platform/kernel/clock.ts'
import { parseInput } from '../platform/kernel/parse-input.ts'
import { createPipe } from '../workspace/pipes/create-pipe.ts'
import { pipeInput } from '../workspace/pipes/pipe.ts'
import { handleApiRequest } from './handle-request.ts'

describeWithDatabase('the event stream', (database) => {
  async function open() {
    const runtime = testRuntime(database())
    const made = await createTestWorkspace(runtime)
    return { ...made, runtime, place: { workspaceId: made.workspaceId, pipeId: made.pipe.id } }
  }
  type Opened = Awaited<ReturnType<typeof open>>

  async function happen({ runtime }: Opened, place: Opened['place']): Promise<string> {
    const fileId = await addFile(runtime.db, place)
    await runtime.db.transaction((tx) => emitFileEvent(tx, runtime, fileId))
    return fileId
  }

  /** Opens a stream and reads it message by message, skipping comments. */
  async function listen({ runtime, accountKey }: Opened, headers: Record<string, string> = {}, query = '') {
    const leaving = new AbortController()
    const asked = new Request(`http://localhost/api/v1/events/stream${query}`, {
      headers: { Authorization: `Bearer ${accountKey.key}`, ...headers },
      signal: leaving.signal,
    })
    const response = await handleApiRequest(runtime, asked)
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    const block = async (): Promise<string | undefined> => {
      while (!text.includes('\n\n')) {
        const { value, done } = await reader.read()
        if (done) return undefined
        text += value
      }
      const [first, ...rest] = text.split('\n\n')
      text = rest.join('\n\n')
      return first
    }
    const next = async () => {
      for (;;) {
        const found = await block()
        if (found === undefined) return undefined
        if (/^event: /m.test(found)) return found
      }
    }
    const file = async () => JSON.parse((await next())!.match(/^data: (.*)$/m)![1]!).data.file_id
    const problem = async () => JSON.parse(text + (await reader.read()).value)
    return { response, problem, block, next, file, leave: () => leaving.abort() }
  }

  it('sends events with or without a webhook, but no earlier ones and none from other workspaces', async () => {
    const [mine, theirs] = [await open(), await open()]
    await happen(mine, mine.place)
    const stream = await listen(mine)
    expect(stream.response.headers.get('content-type')).toBe('text/event-stream')
    expect(await stream.block()).toMatch(/^retry: 2000\nid: [0-9a-f-]{36}$/)
    await happen(theirs, theirs.place)
    const files = [await happen(mine, mine.place), await happen(mine, mine.place)]
    expect([await stream.file(), await stream.file()].sort()).toEqual(files.sort())
    stream.leave()
  })

  it('can be limited to one Pipe, which must belong to the workspace', async () => {
    const [mine, theirs] = [await open(), await open()]
    const fields = { name: 'Other', dataStoreId: mine.dataStore.id, source: { http: true } }
    const other = await createPipe(mine.runtime, mine.actor, parseInput(pipeInput, fields))
    const stream = await listen(mine, {}, `?pipeId=${other.id}`)
    await stream.block()
    await happen(mine, mine.place)
    const wanted = await happen(mine, { ...mine.place, pipeId: other.id })
    expect(await stream.file()).toBe(wanted)
    stream.leave()
    expect((await listen(mine, {}, `?pipeId=${theirs.pipe.id}`)).response.status).toBe(404)
  })

  it('sends a reconnecting client all events since, even if it disconnected before the first event', async () => {
    const mine = await open()
    const first = await listen(mine)
    const place = (await first.block())!.match(/^id: (.*)$/m)![1]!
    first.leave()
    const missed = await happen(mine, mine.place)
    const again = await listen(mine, { 'Last-Event-ID': place })
    expect(await again.file()).toBe(missed)
    again.leave()
  })

  it('sends an event that is committed after one with a later id', { tags: 'long' }, async () => {
    const mine = await open()
    const stream = await listen(mine)
    await stream.block()
    const early = await addFile(mine.runtime.db, mine.place)
    const written = Promise.withResolvers<void>()
    const commit = Promise.withResolvers<void>()
    const slow = mine.runtime.db.transaction(async (tx) => {
      await emitFileEvent(tx, mine.runtime, early)
      written.resolve()
      await commit.promise
    })
    await written.promise
    mine.runtime.clock.advance(1)
    const later = await happen(mine, mine.place)
    expect(await stream.file()).toBe(later)
    commit.resolve()
    await slow
    expect(await stream.file()).toBe(early)
    stream.leave()
  })

  it('goes back up to an hour, and reports a gap if more is requested', async () => {
    const mine = await open()
    const first = await listen(mine)
    const place = (await first.block())!.match(/^id: (.*)$/m)![1]!
    first.leave()
    const old = await happen(mine, mine.place)
    advance(mine.runtime, hours(1) - minutes(1))
    const inTime = await listen(mine, { 'Last-Event-ID': place })
    expect(await inTime.file()).toBe(old)
    inTime.leave()
    advance(mine.runtime, minutes(2))
    const late = await listen(mine, { 'Last-Event-ID': place })
    expect(await late.next()).toMatch(/^event: gap\ndata: {"until":/)
    const fresh = await happen(mine, mine.place)
    expect(await late.file()).toBe(fresh)
    late.leave()
  })

  it('ends when its key is revoked', async () => {
    const mine = await open()
    const stream = await listen(mine)
    await stream.block()
    await revokeAccountKey(mine.runtime, mine.actor, mine.accountKey.id)
    advance(mine.runtime, seconds(15))
    expect(await stream.next()).toBeUndefined()
  })

  it('ends when its key is revoked, even with a backlog of unread events', async () => {
    const mine = await open()
    const first = await listen(mine)
    const place = (await first.block())!.match(/^id: (.*)$/m)![1]!
    first.leave()
    const BACKLOG = 60
    for (let n = 0; n < BACKLOG; n++) await happen(mine, mine.place)
    const stream = await listen(mine, { 'Last-Event-ID': place })
    await stream.next()
    await revokeAccountKey(mine.runtime, mine.actor, mine.accountKey.id)
    advance(mine.runtime, seconds(2))
    let told = 1
    while (await stream.next()) told += 1
    expect(told).toBeLessThan(BACKLOG / 2)
  })

  it('allows the workspaces of an owner twenty streams in total, and frees the places of closed ones', async () => {
    const [mine, second] = [await open(), await open()]
    const ownership = { workspaceId: second.workspaceId, userId: mine.userId, role: 'owner' } as const
    await mine.runtime.db.insert(members).values({ ...ownership, createdAt: new Date(0) })
    const streams = await Promise.all(
      Array.from({ length: 20 }, (_, n) => listen(n % 2 === 0 ? mine : second)),
    )
    const refused = await listen(mine)
    expect([refused.response.status, refused.response.headers.get('retry-after')]).toEqual([429, '10'])
    expect((await refused.problem()).detail).toContain(
      "This workspace and its owner's others have 20 event streams open",
    )
    for (const stream of streams) stream.leave()
    const again = await listen(mine)
    expect(again.response.status).toBe(200)
    again.leave()
  })

  it('rejects an invalid Last-Event-ID', async () => {
    const refused = await listen(await open(), { 'Last-Event-ID': 'x' })
    expect(refused.response.status).toBe(400)
  })
})

const advance = ({ clock }: TestRuntime, ms: number) => clock.advance(ms)
