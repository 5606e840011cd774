import { encode } from 'next-auth/jwt'
import { createAccount } from '#lib/identity/accounts/users.ts'
import type { Actor } from '#lib/identity/audit/record-audit.ts'
import { createSession } from '#lib/identity/sessions/sessions.ts'
import { migrate } from '#lib/platform/db/migrate.ts'
import { openPostgres } from '#lib/platform/db/open-postgres.ts'
import { systemClock } from '#lib/platform/kernel/clock.ts'
import { parseInput } from '#lib/platform/kernel/parse-input.ts'
import { loadConfig } from '#lib/platform/settings/config.ts'
import { createVault } from '#lib/platform/vault.ts'
import { createDataStore } from '#lib/workspace/data-stores/create-data-store.ts'
import { createPipe } from '#lib/workspace/pipes/create-pipe.ts'
import { pipeInput } from '#lib/workspace/pipes/pipe.ts'
import { createSender } from '#lib/workspace/senders/create-sender.ts'
import { buildIfNeeded } from '../scripts/build.ts'
import { createDatabase, freePort } from '../test/support/postgres.ts'
import { type Sluice, startSluice, temporaryFolder } from '../test/support/sluice.ts'
import type { Finding } from './cases.ts'
import { type Owner, seedDeliveries, seedFiles, seedTokens } from './seed.ts'

/**
 * Time limit for every dashboard list page, fully rendered as a browser receives it, with a million files and a
 * million deliveries.
 */
const MAX_MS = 200
const WARM_UP_ROUNDS = 3
const ROUNDS = 15
const PIPES = 60
/** The link to the next page, if there is one. */
const OLDER = /href="([^"]*cursor=[^"]*)"/

const pathsOf = ({ pipeIds: [pipe], senderIds: [sender], dataStoreId }: Owner): string[] => [
  '/dashboard',
  '/dashboard/files',
  '/dashboard/files?status=failed',
  '/dashboard/files?status=expired',
  `/dashboard/files?pipeId=${pipe}&status=failed`,
  `/dashboard/files?senderId=${sender}`,
  '/dashboard/files?filename=nothing+has+it',
  '/dashboard/files?within=1440',
  `/dashboard/pipes/${pipe}/files`,
  '/dashboard/webhooks',
  '/dashboard/webhooks?state=failed',
  '/dashboard/webhooks?state=pending',
  `/dashboard/webhooks?pipeId=${pipe}&state=failed`,
  '/dashboard/webhooks/inbox',
  '/dashboard/pipes',
  `/dashboard/pipes/${pipe}`,
  `/dashboard/pipes/${pipe}/settings`,
  '/dashboard/senders',
  `/dashboard/senders/${sender}`,
  '/dashboard/data-stores',
  `/dashboard/data-stores/${dataStoreId}`,
  '/dashboard/usage',
  '/dashboard/settings/audit',
  '/dashboard/settings/sessions',
  '/dashboard/settings/keys',
  '/dashboard/settings/account',
]

export async function benchPages(postgresUrl: string): Promise<Finding[]> {
  return withMillion(postgresUrl, async ({ baseUrl }, owner, cookie) => {
    const findings: Finding[] = []
    for (const path of pathsOf(owner)) {
      const first = await measure(baseUrl + path, cookie)
      findings.push(judge(path, owner, first))
      const older = first.html.match(OLDER)?.[1]?.replaceAll('&amp;', '&')
      if (older) findings.push(judge(`${path}, the next page`, owner, await measure(baseUrl + older, cookie)))
    }
    return findings
  })
}

type Work = (sluice: Sluice, owner: Owner, cookie: string) => Promise<Finding[]>

/** Runs the work with a server whose workspace has a million files and a million deliveries. */
export async function withMillion(postgresUrl: string, work: Work): Promise<Finding[]> {
  buildIfNeeded()
  const { url, drop } = await createDatabase(postgresUrl)
  using folder = temporaryFolder()
  const env = {
    DATABASE_URL: url,
    DATA_DIR: folder.path,
    HOST: '127.0.0.1',
    PORT: String(await freePort()),
    ENCRYPTION_KEY: Buffer.alloc(32, 1).toString('base64'),
    AUTH_SECRET: 'a secret of thirty-two characters',
    LOG_LEVEL: 'warn',
    ROLES: 'web',
  }
  const { owner, cookie } = await furnish(env)
  const sluice = await startSluice(env)
  try {
    return await work(sluice, owner, cookie)
  } finally {
    await sluice.stop()
    await drop()
  }
}

async function furnish(env: Record<string, string>): Promise<{ owner: Owner; cookie: string }> {
  const config = loadConfig(env)
  const database = openPostgres({ address: config.databaseUrl! })
  await migrate(database.db)
  const runtime = { db: database.db, clock: systemClock, config, vault: createVault(config.encryptionKeys) }
  const account = { email: 'bench@example.com', passwordHash: null, emailVerified: true }
  const { workspaceId, userId } = await createAccount(runtime, account)
  const actor: Actor = { workspaceId, kind: 'user', id: userId, label: account.email, role: 'owner' }
  const dataStore = await createDataStore(runtime, actor, {
    name: 'Bench',
    provider: 'gcs',
    bucket: 'bench',
    accessKeyId: 'KEY',
    secretAccessKey: 'secret',
  })
  const owner: Owner = { workspaceId, dataStoreId: dataStore.id, pipeIds: [], senderIds: [] }
  for (let n = 0; n < PIPES; n++) {
    const fields = { name: `Pipe ${n}`, dataStoreId: dataStore.id, source: { http: true } }
    owner.pipeIds.push((await createPipe(runtime, actor, parseInput(pipeInput, fields))).id)
    owner.senderIds.push((await createSender(runtime, actor, { name: `Backend ${n}` })).id)
  }
  await seedFiles(database.db, owner)
  await seedDeliveries(database.db, owner)
  await seedTokens(database.db, owner)
  const session = await createSession(runtime, userId, { userAgent: 'bench', address: null })
  const token = await encode({ token: { sid: session.id }, secret: config.authSecret })
  await database.close()
  return { owner, cookie: `next-auth.session-token=${token}` }
}

type Measured = { html: string; medianMs: number; slowestMs: number }

async function measure(url: string, cookie: string): Promise<Measured> {
  const times: number[] = []
  let html = ''
  for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
    const startedAt = performance.now()
    const answer = await fetch(url, { headers: { Cookie: cookie }, redirect: 'error' })
    html = await answer.text()
    if (answer.status !== 200) throw new Error(`${url}: ${answer.status}`)
    if (round >= 0) times.push(performance.now() - startedAt)
  }
  times.sort((a, b) => a - b)
  return { html, medianMs: Math.round(times[ROUNDS >> 1]!), slowestMs: Math.round(times.at(-1)!) }
}

function judge(path: string, { pipeIds, senderIds, dataStoreId }: Owner, { medianMs, slowestMs }: Measured) {
  const shown = path
    .replace(pipeIds[0]!, '<pipe>')
    .replace(senderIds[0]!, '<sender>')
    .replace(dataStoreId, '<data store>')
  return {
    what: `Page ${shown}, with a million files and deliveries`,
    measured: `${medianMs} ms, the slowest of ${ROUNDS} ${slowestMs} ms`,
    wanted: `≤ ${MAX_MS} ms`,
    holds: medianMs <= MAX_MS,
  }
}
