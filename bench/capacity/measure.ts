import { writeFileSync } from 'node:fs'
import { emitFileEvent } from '#lib/events/emit-file-event.ts'
import { migrate } from '#lib/platform/db/migrate.ts'
import { openPostgres } from '#lib/platform/db/open-postgres.ts'
import { systemClock } from '#lib/platform/kernel/clock.ts'
import { createLogger } from '#lib/platform/log/log.ts'
import { openQueue } from '#lib/platform/queue.ts'
import { buildIfNeeded } from '../../scripts/build.ts'
import { createDatabase, startPostgres } from '../../test/support/postgres.ts'
import { startReceiver } from '../../test/support/receiver.ts'
import { startWebhookWorkerProcess } from '../../test/support/start-webhook-worker.ts'
import { addFile, addOutput } from '../../test/support/webhook-rows.ts'
import { inParallel, steadily } from '../load.ts'
import { usageOf } from '../postgres-usage.ts'
import { measuredNow } from '../report.ts'
import { startSluiceNode } from '../sluice-site.ts'

/** CPU time of a web process for a token, and of a worker for a webhook. */
export type Measured = { day: string; commit: string; tokenMs: number; webhookMs: number }

/** Below the 100 tokens per second that a Sender may request. */
const TOKENS = { perSecond: 90, seconds: 20 }
const WEBHOOKS = 6000
const WARM_UP = 500

/** Measures both on this machine, and writes the results. */
export async function measureRequests(file: URL): Promise<void> {
  await buildIfNeeded()
  const postgres = await startPostgres()
  try {
    const tokenMs = await measureTokens(postgres.url)
    const webhookMs = await measureWebhooks(postgres.url)
    const measured: Measured = { ...measuredNow(), tokenMs, webhookMs }
    writeFileSync(file, `${JSON.stringify(measured, null, 2)}\n`)
  } finally {
    await postgres.stop()
  }
}

async function measureTokens(postgresUrl: string): Promise<number> {
  const { node, pipeId, senderToken, drop } = await startSluiceNode(postgresUrl, 'http://127.0.0.1:1', {
    ROLES: 'web',
  })
  const request = {
    method: 'POST',
    headers: { Authorization: `Bearer ${senderToken}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ pipeId, expiresIn: 600, metadata: { user: '42' } }),
  }
  const issue = async () => {
    const { status } = await fetch(`${node.url}/api/v1/tokens`, request)
    if (status !== 201) throw new Error(`a token request failed with ${status}`)
  }
  await steadily({ ...TOKENS, seconds: WARM_UP / TOKENS.perSecond }, issue)
  const before = await node.usage()
  await steadily(TOKENS, issue)
  const cpuSeconds = (await node.usage()).cpuSeconds - before.cpuSeconds
  await node.stop()
  await drop()
  return (cpuSeconds * 1000) / (TOKENS.perSecond * TOKENS.seconds)
}

/** To one receiver that responds immediately. */
async function measureWebhooks(postgresUrl: string): Promise<number> {
  const { url, drop } = await createDatabase(postgresUrl)
  const database = openPostgres({ address: url })
  await migrate(database.db)
  const queue = await openQueue(database, { worker: false, log: createLogger('error') })
  const receiver = await startReceiver()
  const output = await addOutput(database.db, receiver.url)
  const emit = (count: number) =>
    inParallel(count, 16, async () => {
      const fileId = await addFile(database.db, output)
      await database.db.transaction((tx) => emitFileEvent(tx, { queue, clock: systemClock }, fileId))
    })
  const worker = await startWebhookWorkerProcess(url, { QUIET: '1' })
  await worker.printed('ready')
  await emit(WARM_UP)
  await receiver.gets(WARM_UP)
  const before = usageOf(worker.pid).cpuSeconds
  await emit(WEBHOOKS)
  await receiver.gets(WARM_UP + WEBHOOKS)
  const cpuSeconds = usageOf(worker.pid).cpuSeconds - before
  await worker.stop()
  await receiver.stop()
  await queue.stop()
  await database.close()
  await drop()
  return (cpuSeconds * 1000) / WEBHOOKS
}
