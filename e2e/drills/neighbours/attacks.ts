import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { constants, setPriority } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import { saveHook } from '#lib/hooks/pipe-hooks.ts'
import { createAccountKey } from '#lib/identity/accounts/account-keys.ts'
import { insertWorkspace } from '#lib/identity/workspaces/workspaces.ts'
import { openPostgres } from '#lib/platform/db/open-postgres.ts'
import { uuidv7 } from '#lib/platform/kernel/ids.ts'
import { createDataStore } from '#lib/workspace/data-stores/create-data-store.ts'
import { createPipe } from '#lib/workspace/pipes/create-pipe.ts'
import { pipeInput } from '#lib/workspace/pipes/pipe.ts'
import { createSender } from '#lib/workspace/senders/create-sender.ts'
import { type DrippingBucket, startDrippingBucket } from '../../../test/support/dripping-bucket.ts'
import { httpCall } from '../../../test/support/http-call.ts'
import { connectSftp } from '../../../test/support/sftp-site.ts'
import { starve } from '../../../test/support/starving.ts'
import { createSite, type Site } from '../../../test/support/upload-site.ts'
import { makeReady } from '../../../test/support/workspace.ts'

/** Where the server is, and the Pipe of the customer who must notice nothing. */
export type Target = {
  databaseUrl: string
  baseUrl: string
  metricsToken: string
  sftpPort: number
  pipeId: string
}
type Attacker = Target & { site: Site; call(method: string, path: string, body: unknown): Promise<unknown> }
/** `tenant`: with an account of its own, within its limits or beyond; `stranger`: without any credentials. */
type Attack = { by: 'tenant' | 'stranger'; begin(attacker: Attacker): Promise<unknown> }

const MiB = 1024 * 1024

/** Does work over and over, this many times at once, whatever comes of it. */
function keep(atOnce: number, work: () => Promise<unknown>): void {
  for (let n = 0; n < atOnce; n++)
    void (async () => {
      for (;;) {
        await work().catch(() => {})
        await new Promise((resolve) => setImmediate(resolve))
      }
    })()
}

export const ATTACKS: Record<string, Attack> = {
  'upload links with a password and an Idempotency-Key': {
    by: 'tenant',
    async begin({ site, call }) {
      const link = { pipeId: site.pipe.id, title: 'Link', password: 'a long password' }
      keep(100, () => call('POST', '/upload-links', link))
    },
  },
  'changes of the password of an upload link': {
    by: 'tenant',
    async begin({ site, call }) {
      const { id } = (await call('POST', '/upload-links', { pipeId: site.pipe.id, title: 'Link' })) as {
        id: string
      }
      keep(30, () => call('PATCH', `/upload-links/${id}`, { password: 'a long password' }))
    },
  },
  'searches through 300,000 entries of the audit log': {
    by: 'tenant',
    async begin({ site, call }) {
      await fillAuditLog(site, 300_000)
      keep(40, () => call('GET', '/audit-log?search=nothing-like-this', undefined))
    },
  },
  'STATs on 40 SFTP connections': {
    by: 'tenant',
    async begin({ site, sftpPort }) {
      const token = await site.token()
      const place = { port: sftpPort, pipe: site.pipe }
      const clients = await Promise.all(Array.from({ length: 40 }, () => connectSftp(place, token)))
      for (const client of clients) keep(64, () => client.stat('unknown'))
    },
  },
  'uploads to buckets that never answer': {
    by: 'tenant',
    async begin({ site, ...target }) {
      const bucket = await startDrippingBucket()
      await starve(target.baseUrl, site, bucket, Buffer.alloc(32 * MiB))
      await untilNothingMoves(target, bucket)
    },
  },
  'imports that drip, from 64 workspaces of a person': {
    by: 'tenant',
    async begin(attacker) {
      const source = await startServer((res) => void setInterval(() => res.write('x'), 500))
      for (let n = 0; n < 64; n++) {
        const { pipeId, token } = await anotherWorkspace(attacker.site)
        const files = Array.from({ length: 20 }, (_, at) => ({ url: `${source}/${at}`, filename: `${at}` }))
        await post(attacker, '/imports/batch', token, JSON.stringify({ pipeId, files }))
      }
    },
  },
  'files for hanging hooks of 130 Pipes': {
    by: 'tenant',
    async begin({ site, baseUrl }) {
      const url = await startServer(() => {})
      for (let n = 0; n < 130; n++) {
        const pipeId = await pipeOf(site, site.dataStore.id)
        const hook = { url, enabled: true, timeoutSeconds: 30, withoutAnswer: 'refuse' } as const
        await saveHook(site.runtime, site.actor, { pipeId, hook: 'before_complete' }, hook)
        const token = await site.token({ pipeId })
        keep(2, () =>
          httpCall({
            method: 'PUT',
            url: `${baseUrl}/pipes/${pipeId}/files/a`,
            token,
            body: Buffer.alloc(9),
          }),
        )
      }
    },
  },
  'failed SFTP sign-ins on a Pipe': {
    by: 'stranger',
    async begin({ sftpPort, pipeId }) {
      const place = { port: sftpPort, pipe: { id: pipeId } }
      keep(20, () => connectSftp(place, `tmp_${'x'.repeat(43)}`))
    },
  },
  'bodies of 4 MB without a valid token': {
    by: 'stranger',
    async begin(attacker) {
      const body = `{"files":[${Array(2_000_000).fill(1)}]}`
      keep(4, () => post(attacker, '/imports/batch', 'x', body))
    },
  },
  'pipelined requests for a large page': {
    by: 'stranger',
    async begin({ baseUrl }) {
      const { port, host } = new URL(baseUrl)
      const packet = `GET /docs/api HTTP/1.1\r\nHost: ${host}\r\n\r\n`.repeat(100)
      keep(2, async () => {
        const socket = connect(Number(port), '127.0.0.1', () => socket.write(packet)).resume()
        await once(socket, 'close')
      })
    },
  },
  'sign-ins of 20 MB': {
    by: 'stranger',
    async begin({ baseUrl }) {
      const body = Buffer.alloc(20 * MiB, 'a')
      const headers = { 'Content-Type': 'application/x-www-form-urlencoded' }
      keep(4, () =>
        httpCall({ method: 'POST', url: `${baseUrl}/api/auth/callback/credentials`, headers, body }),
      )
    },
  },
}

/** Waits until the attack has all the memory that it can get, so that nothing changes from one look to the next. */
async function untilNothingMoves(target: Target, bucket: DrippingBucket): Promise<void> {
  for (let before = -1; ; ) {
    await sleep(500)
    const used = await uploadMemory(target)
    if (used > 0 && used === before && bucket.dripping > 0) return
    before = used
  }
}

async function uploadMemory({ baseUrl, metricsToken }: Target): Promise<number> {
  const { body } = await httpCall({ method: 'GET', url: `${baseUrl}/metrics`, token: metricsToken })
  return Number(body.match(/^sluice_upload_memory_bytes (\S+)$/m)?.[1])
}

const post = ({ baseUrl }: Target, path: string, token: string, body: string) =>
  httpCall({
    method: 'POST',
    url: `${baseUrl}/api/v1${path}`,
    token,
    headers: { 'Content-Type': 'application/json' },
    body: Buffer.from(body),
  })

async function startServer(answer: (res: ServerResponse) => void): Promise<string> {
  const server = createServer((_, res) => answer(res)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function pipeOf(
  { runtime, actor }: Pick<Site, 'runtime' | 'actor'>,
  dataStoreId: string,
): Promise<string> {
  const fields = { name: 'Pipe', dataStoreId, source: { http: true, url: true } }
  return (await createPipe(runtime, actor, pipeInput.parse(fields))).id
}

async function anotherWorkspace({ runtime, actor, bucket }: Site) {
  const owner = { id: actor.id! }
  const workspaceId = await insertWorkspace(runtime, owner, { name: 'Another' })
  const here = { ...actor, workspaceId }
  const dataStore = await createDataStore(runtime, here, {
    name: 'Bucket',
    provider: 'aws',
    endpoint: bucket.endpoint,
    region: bucket.region,
    bucket: bucket.name,
    forcePathStyle: true,
    accessKeyId: bucket.key.accessKeyId,
    secretAccessKey: bucket.key.secretAccessKey,
  })
  await makeReady(runtime.db, dataStore)
  const pipeId = await pipeOf({ runtime, actor: here }, dataStore.id)
  return { pipeId, token: (await createSender(runtime, here, { name: 'Backend' })).token }
}

async function fillAuditLog({ runtime, workspaceId }: Site, entries: number): Promise<void> {
  const first = uuidv7(0).slice(0, 8)
  await runtime.db.execute(sql`insert into audit_log (id, workspace_id, actor_kind, actor_label, action, subject_label, created_at)
    select (${first} || substr(gen_random_uuid()::text, 9))::uuid, ${workspaceId}::uuid, 'system', 'someone', 'pipe.changed', 'A Pipe', now()
    from generate_series(1, ${entries}::int)`)
}

/** Each attack runs in a process of its own, which is killed when the attacker is to leave. */
if (import.meta.main) {
  // Attackers have computers of their own, and do not take the server's CPU time.
  setPriority(constants.priority.PRIORITY_LOW)
  const [name, target] = JSON.parse(process.argv[2]!) as [string, Target]
  const database = openPostgres({ address: target.databaseUrl, maxConnections: 2 })
  const site = await createSite(database, { pipe: { source: { http: true, sftp: true } } })
  const { key } = await createAccountKey(site.runtime, site.actor, { name: 'Key' })
  const call = async (method: string, path: string, body: unknown) => {
    const reply = await httpCall({
      method,
      url: `${target.baseUrl}/api/v1${path}`,
      token: key,
      headers: {
        'Content-Type': 'application/json',
        'Idempotency-Key': randomUUID(),
        'X-Forwarded-For': '203.0.113.7',
      },
      body: body === undefined ? undefined : Buffer.from(JSON.stringify(body)),
    })
    return JSON.parse(reply.body)
  }
  await ATTACKS[name]!.begin({ ...target, site, call })
  process.send!('begun')
}
