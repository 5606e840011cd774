import { sql } from 'drizzle-orm'
import { fileQuery } from '#lib/dashboard/files/file-query.ts'
import { countFiles, listFiles } from '#lib/dashboard/files/list-files.ts'
import { showFile } from '#lib/dashboard/files/show-file.ts'
import { findInWorkspace } from '#lib/dashboard/find-in-workspace.ts'
import { readSnapshot } from '#lib/dashboard/live.ts'
import { readAttention } from '#lib/dashboard/overview/read-attention.ts'
import { readFigures } from '#lib/dashboard/overview/read-figures.ts'
import { readMap } from '#lib/dashboard/overview/read-map.ts'
import { readChecklist } from '#lib/dashboard/overview/read-overview.ts'
import { decisionSweeps } from '#lib/hooks/decide-files.ts'
import { rows } from '#lib/platform/db/database.ts'
import { openPostgres } from '#lib/platform/db/open-postgres.ts'
import { writeCursor } from '#lib/platform/db/page.ts'
import { parseInput } from '#lib/platform/kernel/parse-input.ts'
import { createLogger } from '#lib/platform/log/log.ts'
import { openQueue } from '#lib/platform/queue.ts'
import type { Runtime } from '#lib/platform/runtime.ts'
import { uploadSweeps } from '#lib/recovery/upload-sweeps.ts'
import { startWebhookWorker } from '#lib/webhooks/delivery/dispatcher.ts'
import { webhookSweeps } from '#lib/webhooks/delivery/sweeps.ts'
import { countUndelivered, deliveryQuery, listDeliveries } from '#lib/webhooks/log/list-deliveries.ts'
import { showDelivery } from '#lib/webhooks/log/show-delivery.ts'
import { issueToken } from '#lib/workspace/tokens/issue-token.ts'
import { tokenInput } from '#lib/workspace/tokens/token.ts'
import { controlSweeps } from '#server/control-sweeps.ts'
import { startReceiver } from '../../test/support/receiver.ts'
import { tusClient } from '../../test/support/tus-client.ts'
import { createSite, serveUploads } from '../../test/support/upload-site.ts'
import { addOutput } from '../../test/support/webhook-rows.ts'
import type { Explained } from './explained.ts'
import { middleOf, type Tenant } from './grow.ts'

/**
 * The frequent operations, which call the product's own code: uploads, tokens, webhooks, lists, the Overview, and
 * sweeps.
 */
export type HotPath = { name: string; run(): Promise<unknown> }

export type Stage = {
  tenant: Tenant
  /** Returns the operations for the database's current content. */
  paths(): Promise<HotPath[]>
  close(): Promise<void>
}

const SMALL = Buffer.alloc(4096, 7)

export async function openStage(database: Explained): Promise<Stage> {
  const site = await createSite(database)
  const receiver = await startReceiver()
  const { workspaceId, pipe, dataStore, sender } = site
  const output = await addOutput(database.db, receiver.url, { workspaceId, pipeId: pipe.id })
  const beside = openPostgres({ address: database.address, maxConnections: 1 })
  const log = createLogger('error')
  const queue = await openQueue(database, { worker: false, log })
  const runtime: Runtime = { ...site.runtime, log, queue }
  const node = await serveUploads(runtime)
  const worker = await startWebhookWorker(runtime)
  const client = tusClient({ url: node.url, pipeId: pipe.id, token: await site.token() })
  const create = (bytes: number) => client.begin(bytes)
  const settled = async (work: Promise<unknown>) => {
    await work
    await Promise.all(node.context.background)
  }
  const uploads: HotPath[] = [
    {
      name: 'a token',
      run: () => issueToken(runtime, sender.token, parseInput(tokenInput, { pipeId: pipe.id })),
    },
    {
      name: 'an upload in one request, and its webhook',
      run: () => delivered(client.create(SMALL.length, {}, SMALL)),
    },
    {
      name: 'an upload in three requests, and its webhook',
      async run() {
        const url = await create(2 * SMALL.length)
        await settled(client.patch(url, 0, SMALL))
        await client.head(url)
        await delivered(client.patch(url, SMALL.length, SMALL))
      },
    },
    {
      name: 'a canceled upload',
      run: () => create(SMALL.length).then((url) => settled(client.terminate(url))),
    },
  ]
  /** Waits until the attempt is recorded. Uses a different connection, so that this query is not measured. */
  async function delivered(work: Promise<unknown>): Promise<void> {
    const before = receiver.received.length
    await settled(work)
    await receiver.gets(before + 1)
    const waiting = sql`select from deliveries where webhook_output_id = ${output.id}::uuid and state = 'pending'`
    while ((await rows(beside.db, waiting)).length > 0);
  }
  const tenant = { workspaceId, dataStoreId: dataStore.id, pipeIds: [pipe.id], senderId: sender.id }
  return {
    tenant,
    paths: async () => [
      ...uploads,
      ...(await lists(runtime, site, tenant)),
      ...overview(runtime, site),
      ...sweeps(),
    ],
    async close() {
      await worker.stop()
      await node.close()
      await queue.stop()
      await receiver.stop()
      await beside.close()
      await site.close()
    },
  }
  function sweeps(): HotPath[] {
    const all = [
      ...uploadSweeps(node.context),
      ...decisionSweeps(node.context),
      ...webhookSweeps(runtime),
      ...controlSweeps(runtime),
    ]
    return all.map(({ name, run }) => ({ name: `the sweep “${name}”`, run }))
  }
}

type Site = Awaited<ReturnType<typeof createSite>>

async function lists(runtime: Runtime, { actor, pipe, sender }: Site, tenant: Tenant): Promise<HotPath[]> {
  const [file, delivery] = [
    await middleOf(runtime.db, 'files', tenant),
    await middleOf(runtime.db, 'deliveries', tenant),
  ]
  const files = {
    unfiltered: {},
    'by status': { status: 'transferred' },
    'by a rare status': { status: 'failed' },
    'by Pipe and status': { pipeId: pipe.id, status: 'failed' },
    'by Sender': { senderId: sender.id },
    'by name': { filename: 'photo' },
    'by a name without matches': { filename: 'nothing has it' },
    'by size': { order: 'largest' },
  }
  const webhooks = {
    unfiltered: {},
    'by state': { state: 'delivered' },
    'by a rare state': { state: 'failed' },
    'by Pipe and state': { pipeId: pipe.id, state: 'pending' },
    'by file': { fileId: file },
  }
  const both = (name: string, list: (more: object) => Promise<unknown>, key: string): HotPath[] => [
    { name, run: () => list({}) },
    { name: `${name}, middle page`, run: () => list({ cursor: writeCursor(key) }) },
  ]
  return [
    ...Object.entries(files).flatMap(([how, query]) => {
      const list = (more: object) => listFiles(runtime, actor, parseInput(fileQuery, { ...query, ...more }))
      const name = `file list, ${how}`
      return 'order' in query ? [{ name, run: () => list({}) }] : both(name, list, file)
    }),
    ...Object.entries(webhooks).flatMap(([how, query]) =>
      both(
        `webhook list, ${how}`,
        (more) => listDeliveries(runtime, actor, parseInput(deliveryQuery, { ...query, ...more })),
        delivery,
      ),
    ),
    { name: 'the file count', run: () => countFiles(runtime, actor, parseInput(fileQuery, {})) },
    { name: 'the file page', run: () => showFile(runtime, actor, file) },
    {
      name: 'live updates of a file',
      run: () => readSnapshot(runtime.db, actor.workspaceId, `file:${file}`),
    },
    { name: 'the webhook page', run: () => showDelivery(runtime, actor, delivery) },
    { name: 'a search', run: () => findInWorkspace(runtime, actor, 'photo') },
  ]
}

function overview(runtime: Runtime, { actor, pipe }: Site): HotPath[] {
  return [
    {
      name: 'the Overview figures',
      run: () => readFigures(runtime, actor, { range: '30d', pipeId: undefined }),
    },
    {
      name: 'the Pipe figures',
      run: () => readFigures(runtime, actor, { range: '30d', pipeId: pipe.id }),
    },
    { name: 'what needs attention', run: () => readAttention(runtime, actor) },
    { name: 'the map', run: () => readMap(runtime, actor) },
    { name: 'the checklist', run: () => readChecklist(runtime, actor) },
    { name: 'waiting webhooks', run: () => countUndelivered(runtime, actor, {}) },
    ...(['uploads', 'files', 'deliveries', 'inbox'] as const).map((topic) => ({
      name: `live updates: ${topic}`,
      run: () => readSnapshot(runtime.db, actor.workspaceId, topic),
    })),
  ]
}
