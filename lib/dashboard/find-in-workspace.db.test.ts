import { beforeAll, expect, it } from 'vitest'
import { batches, deliveries, events } from '#drizzle/schema/index.ts'
import { describeWithDatabase } from '../../test/support/databases.ts'
import { type TestRuntime, testRuntime } from '../../test/support/runtime.ts'
import { addFile } from '../../test/support/webhook-rows.ts'
import { createTestWorkspace, type TestWorkspace } from '../../test/support/workspace.ts'
import { uuidv7 } from '../platform/kernel/ids.ts'
import { parseInput } from '../platform/kernel/parse-input.ts'
import { createUploadLink, hashingPassword } from '../upload-links/manage-links.ts'
import { uploadLinkInput } from '../upload-links/upload-link.ts'
import { findInWorkspace } from './find-in-workspace.ts'
import { readAttention } from './overview/read-attention.ts'

describeWithDatabase('search', (database) => {
  let runtime: TestRuntime
  let mine: TestWorkspace
  beforeAll(async () => {
    runtime = testRuntime(database())
    mine = await createTestWorkspace(runtime)
  })
  const add = (fields: Parameters<typeof addFile>[2]) =>
    addFile(database().db, { workspaceId: mine.workspaceId, pipeId: mine.pipe.id }, fields)
  const find = async (text: string, { actor } = mine) =>
    (await findInWorkspace(runtime, actor, text)).map(({ kind, title }) => `${kind} ${title}`)

  it('finds a Pipe, Sender, Data Store and file by part of the name or by id', async () => {
    const id = await add({ filename: 'Harbour 100%.mov' })
    expect(await find('phot')).toEqual(['pipe Photos'])
    expect(await find('back')).toEqual(['sender Backend'])
    expect(await find('bucke')).toEqual(['dataStore Bucket'])
    expect(await find('100%')).toEqual(['file Harbour 100%.mov'])
    expect(await find(id)).toEqual(['file Harbour 100%.mov'])
    expect(await find(mine.pipe.id)).toEqual(['pipe Photos'])
  })

  it('finds an upload link by its title, and not as the Sender that it has, and a subject', async () => {
    const link = parseInput(uploadLinkInput, { pipeId: mine.pipe.id, title: 'Wedding' })
    await createUploadLink(runtime, mine.actor, await hashingPassword(link))
    await add({ filename: 'vows.mov', subject: 'user_4217' })
    expect(await find('wedd')).toEqual(['link Wedding'])
    expect(await find('user_42')).toEqual(['subject user_4217'])
  })

  it('finds a batch by its name or id', async () => {
    const { db } = database()
    const [id, { workspaceId }] = [uuidv7(), mine]
    const batch = { id, workspaceId, pipeId: mine.pipe.id, senderId: mine.sender.id, byToken: true }
    await db.insert(batches).values({ ...batch, name: 'order-17' })
    await add({ filename: 'receipt.pdf', batchId: id })
    expect(await find('order')).toEqual(['batch order-17'])
    expect(await find(id)).toEqual(['batch order-17'])
    expect(await find(id, await createTestWorkspace(runtime))).toEqual([])
    expect(await find('order', await createTestWorkspace(runtime))).toEqual([])
  })

  it("finds a webhook by its event's id or by its own id", async () => {
    const { db } = database()
    const [eventId, id] = [uuidv7(), uuidv7()]
    const shared = { workspaceId: mine.workspaceId, pipeId: mine.pipe.id }
    await db.insert(events).values({ ...shared, id: eventId })
    const url = 'https://shop.example/hooks'
    await db.insert(deliveries).values({ ...shared, id, eventId, url, webhookOutputId: uuidv7() })
    expect(await find(eventId)).toEqual(['delivery Webhook to shop.example'])
    expect(await find(id)).toEqual(['delivery Webhook to shop.example'])
    expect(await find(eventId, await createTestWorkspace(runtime))).toEqual([])
  })

  it('finds nothing in other workspaces', async () => {
    const other = await createTestWorkspace(runtime)
    const id = await add({ filename: 'private.mov' })
    expect(await find('private', other)).toEqual([])
    expect(await find(id, other)).toEqual([])
  })

  it.each([
    ['an erased file', { erasedAt: new Date() }],
    ['a partial upload', { concat: 'partial' as const }],
  ])('does not find %s, and the Overview does not show its failure', async (_, fields) => {
    const id = await add({ filename: 'forgotten.mov', status: 'failed', ...fields })
    expect(await find('forgotten')).toEqual([])
    expect(await find(id)).toEqual([])
    expect(await readAttention(runtime, mine.actor)).toEqual([])
  })
})
