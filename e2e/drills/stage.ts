import { createHash, randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { rows } from '#lib/platform/db/database.ts'
import { migrate } from '#lib/platform/db/migrate.ts'
import { openPostgres } from '#lib/platform/db/open-postgres.ts'
import { createDatabase, freePort } from '../../test/support/postgres.ts'
import { type BalancerKind, startShippedBalancer } from '../../test/support/shipped-balancer.ts'
import { type Sluice, startSluice } from '../../test/support/sluice.ts'
import { openBreakableLine } from '../../test/support/tcp-proxies.ts'
import { createSite } from '../../test/support/upload-site.ts'

/**
 * Two upload nodes behind a shipped balancer. The database, the bucket and the nodes can go down, and clients have slow
 * connections.
 */
export type Stage = Awaited<ReturnType<typeof openStage>>
type Options = {
  postgresUrl: string
  balancer: BalancerKind
  /** The bandwidth of each client connection. */
  bytesPerSecond: number
  changes?: [string, string][]
}

const SETTINGS = {
  ROLES: 'upload',
  HOST: '127.0.0.1',
  DATA_DIR: '/nowhere/is-needed',
  ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
  AUTH_SECRET: 'a secret of thirty-two characters',
  ALLOWED_PRIVATE_HOSTS: '*',
  TRUSTED_PROXIES: '127.0.0.1',
  LOG_LEVEL: 'warn',
}

export async function openStage({ postgresUrl, balancer: kind, bytesPerSecond, changes = [] }: Options) {
  const { url, drop } = await createDatabase(postgresUrl)
  const database = openPostgres({ address: url, maxConnections: 4 })
  await migrate(database.db)
  const site = await createSite(database)
  const databaseLine = await openBreakableLine({ toPort: portOf(url) })
  const bucketLine = await openBreakableLine({ toPort: portOf(site.bucket.endpoint) })
  await database.db.execute(sql`update data_stores set endpoint = ${`http://127.0.0.1:${bucketLine.port}`}`)
  const ports = [await freePort(), await freePort()] as [number, number]
  const balancer = await startShippedBalancer(kind, { upload: ports, web: ports }, changes)
  const clientLine = await openBreakableLine({ toPort: balancer.port, bytesPerSecond })
  const baseUrl = `http://127.0.0.1:${clientLine.port}`
  // Set to the same value as in compose.yaml and the documentation.
  const interim = { INTERIM_RESPONSES: kind === 'haproxy' ? '1' : '0' }
  const settings = {
    ...SETTINGS,
    ...interim,
    BASE_URL: baseUrl,
    DATABASE_URL: withPort(url, databaseLine.port),
  }
  const start = (port: number) => startSluice({ ...settings, PORT: String(port) })
  const nodes = (await Promise.all(ports.map(start))) as [Sluice, Sluice]
  const uploadUrl = `${baseUrl}/pipes/${site.pipe.id}/files/`
  // Waits until HAProxy has detected that the nodes are up.
  while ((await fetch(uploadUrl, { method: 'OPTIONS' })).status >= 500);
  return {
    site,
    uploadUrl,
    clientLine,
    databaseLine,
    bucketLine,
    balancer,
    nodes,
    /** The ports of the two nodes. */
    ports,
    start,
    async restart(at: 0 | 1) {
      await nodes[at].stop()
      nodes[at] = await start(ports[at])
    },
    async nodesAway() {
      await Promise.all(nodes.map((node) => node.kill()))
      return async () => {
        const started = await Promise.all(ports.map(start))
        nodes.splice(0, 2, ...started)
      }
    },
    /** Returns how many files were created, and how many of them equal their sources. */
    async arrived(sources: ReadonlyMap<string, Buffer>) {
      const files = await rows<{ id: string; filename: string; status: string }>(
        database.db,
        sql`select id, filename, status from files where filename in ${[...sources.keys()]}`,
      )
      const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
      const objects = await Promise.all(
        files.map(({ id, filename }) => site.bucket.object(`${id}/${filename}`).catch(() => undefined)),
      )
      const whole = files.filter(({ filename }, at) => {
        const source = sources.get(filename)
        return source && objects[at] && digest(objects[at]) === digest(source)
      })
      return { created: files.length, whole: new Set(whole.map(({ filename }) => filename)).size }
    },
    async close() {
      await clientLine.close()
      await balancer.close()
      await Promise.all(nodes.map((node) => node.kill()))
      await Promise.all([databaseLine.close(), bucketLine.close()])
      await site.close()
      await database.close()
      await drop()
    },
  }
}

export function makeSources(count: number, bytes: number): ReadonlyMap<string, Buffer> {
  const name = () => `${randomBytes(6).toString('hex')}.bin`
  return new Map(Array.from({ length: count }, () => [name(), randomBytes(bytes)]))
}

const portOf = (url: string) => Number(new URL(url).port)

function withPort(url: string, port: number): string {
  const changed = new URL(url)
  changed.port = String(port)
  return changed.href
}
