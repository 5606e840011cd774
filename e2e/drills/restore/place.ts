import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { sql } from 'drizzle-orm'
import type { DatabaseHandle } from '#lib/platform/db/database.ts'
import { migrate } from '#lib/platform/db/migrate.ts'
import { openPostgres } from '#lib/platform/db/open-postgres.ts'
import { saveOutput } from '#lib/webhooks/outputs/save-output.ts'
import { ALL_ACTIONS } from '#packages/local-bucket/key-ring.ts'
import { createDatabase, freePort, startPostgres } from '../../../test/support/postgres.ts'
import { type Received, startReceiver } from '../../../test/support/receiver.ts'
import { startSluice, temporaryFolder } from '../../../test/support/sluice.ts'
import { createSite } from '../../../test/support/upload-site.ts'

/** A Sluice with two customers, one whose bucket keys have all permissions and one with put-only keys. */
export type Place = Awaited<ReturnType<typeof openPlace>>
export type Customer = Place['customers'][number]
export const KEYS = ['all rights', 'PutObject only'] as const
export type Keys = (typeof KEYS)[number]
/** The receiver rejects webhooks about files with this name until the restore. */
export const UNHEARD = 'unheard'

const STATUSES = ['transferred', 'failed', 'expired', 'canceled'] as const
const run = promisify(execFile)

export async function openPlace() {
  const folder = temporaryFolder()
  const postgres = await startPostgres()
  const made = [await createDatabase(postgres.url), await createDatabase(postgres.url)] as const
  const database = openPostgres({ address: made[0].url, maxConnections: 4 })
  await migrate(database.db)
  const port = await freePort()
  const receiver = await startReceiver()
  receiver.answerWith(({ body }: Received, res) => res.writeHead(body.includes(UNHEARD) ? 500 : 204).end())
  const customers = await Promise.all(
    KEYS.map((keys) => addCustomer(database, { keys, port, hook: receiver.url })),
  )
  const settings = (url: string) => ({
    DATABASE_URL: url,
    ROLES: 'upload,worker',
    HOST: '127.0.0.1',
    PORT: String(port),
    BASE_URL: `http://127.0.0.1:${port}`,
    DATA_DIR: join(folder.path, 'data'),
    ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    AUTH_SECRET: 'a secret of thirty-two characters',
    ALLOWED_PRIVATE_HOSTS: '*',
    LOG_LEVEL: 'warn',
  })
  return {
    customers,
    receiver,
    database,
    backupFile: join(folder.path, 'sluice.backup'),
    urls: [made[0].url, made[1].url] as const,
    start: (url: string) => startSluice(settings(url)),
    /** Runs an operator's command with a node's settings. */
    async command(script: string, url: string, ...args: string[]): Promise<string> {
      const { PATH, HOME } = process.env
      const env = { PATH, HOME, NODE_ENV: 'production' as const, ...settings(url) }
      return (await run(process.execPath, [`scripts/${script}.ts`, ...args], { env })).stdout
    },
    /** Waits until the receiver has received events of all these files. */
    async hears(fileIds: string[]): Promise<void> {
      const told = () => new Set(receiver.received.map(({ body }) => JSON.parse(body).data.file_id))
      for (let heard = told(); !fileIds.every((id) => heard.has(id)); heard = told())
        await receiver.gets(receiver.received.length + 1)
    },
    openRestored: () => openPostgres({ address: made[1].url, maxConnections: 4 }),
    async close() {
      await Promise.all(customers.map(({ site }) => site.close()))
      await receiver.stop()
      await database.close()
      for (const { drop } of made) await drop()
      await postgres.stop()
      folder[Symbol.dispose]()
    },
  }
}

type Wanted = { keys: Keys; port: number; hook: string }

async function addCustomer(database: DatabaseHandle, { keys, port, hook }: Wanted) {
  const mayAll = keys === 'all rights'
  const site = await createSite(database, mayAll ? { bucket: { actions: ALL_ACTIONS } } : {})
  // Sets the state that a Data Store check would leave.
  await database.db.execute(
    sql`update data_stores set may_read = ${mayAll}, may_delete = ${mayAll}, updated_at = clock_timestamp()
      where id = ${site.dataStore.id}`,
  )
  await saveOutput(site.runtime, site.actor, site.pipe.id, {
    enabled: true,
    url: hook,
    statuses: [...STATUSES],
  })
  const token = await site.token()
  return { keys, site, token, uploadUrl: `http://127.0.0.1:${port}/pipes/${site.pipe.id}/files/` }
}
