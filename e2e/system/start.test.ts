import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { sql } from 'drizzle-orm'
import { expect, inject, it } from 'vitest'
import { rows } from '#lib/platform/db/database.ts'
import { migrate } from '#lib/platform/db/migrate.ts'
import { openDatabase } from '#lib/platform/db/open-database.ts'
import { openPostgres } from '#lib/platform/db/open-postgres.ts'
import { createLogger } from '#lib/platform/log/log.ts'
import { createDatabase } from '../../test/support/postgres.ts'
import { ask as askRaw } from '../../test/support/raw-http.ts'
import { testRuntime } from '../../test/support/runtime.ts'
import {
  compileCache,
  PRELOADED,
  type Sluice,
  sourceFolder,
  startSluice,
  temporaryFolder,
} from '../../test/support/sluice.ts'
import { openPausingProxy } from '../../test/support/tcp-proxies.ts'
import { createTestWorkspace } from '../../test/support/workspace.ts'

const production = {
  ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
  AUTH_SECRET: 'a'.repeat(40),
  METRICS_TOKEN: 'metrics-token-of-the-test',
  BASE_URL: 'http://localhost:0',
  HOST: '127.0.0.1',
}

it('two processes migrate the same empty PostgreSQL database at the same time, serve, and exit with 0', async () => {
  const database = await createDatabase(inject('postgresUrl'))
  using folder = temporaryFolder()
  const env = { ...production, DATABASE_URL: database.url, DATA_DIR: folder.path, ROLES: 'upload,worker' }
  const nodes = await Promise.all([startSluice(env), startSluice(env)])
  for (const { baseUrl } of nodes) expect((await fetch(`${baseUrl}/readyz`)).status).toBe(200)
  expect(await Promise.all(nodes.map((node) => node.stop()))).toEqual([0, 0])
  await database.drop()
})

it('a node whose database is gone still exits with 0 on SIGTERM', { tags: 'long' }, async () => {
  const database = await createDatabase(inject('postgresUrl'))
  const proxy = await openPausingProxy(database.url)
  using folder = temporaryFolder()
  const env = { ...production, DATABASE_URL: proxy.url, DATA_DIR: folder.path, ROLES: 'upload,worker' }
  const node = await startSluice(env)
  await proxy.close()
  expect(await node.stop(), node.output()).toBe(0)
  await database.drop()
})

it('rejects a second process on the same embedded database, stops when npm receives SIGTERM, and starts again', {
  tags: 'long',
}, async () => {
  using folder = temporaryFolder()
  const { PATH = '', HOME = '' } = process.env
  const settings = { DATA_DIR: folder.path, ROLES: 'upload' }
  const env = { PATH, HOME, NODE_ENV: 'production' as const, PORT: '0', ...settings }
  const npm = spawn('npm', ['start'], { cwd: sourceFolder(), env, stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  for await (const text of npm.stdout.iterator({ destroyOnReturn: false })) {
    output += text
    if (/^ready /m.test(output)) break
  }
  await expect(startSluice(settings)).rejects.toThrow(/in use by process \d+.*DATA_DIR.*DATABASE_URL/)
  npm.kill('SIGTERM')
  for await (const text of npm.stdout) output += text
  expect(output).toContain('"msg":"stopping"')

  const next = await startSluice({ ...settings, METRICS_TOKEN: production.METRICS_TOKEN })
  await respondsOnlyToItsHost(next)
  expect(await next.stop()).toBe(0)
})

/** Responds only to requests for its own host, and serves metrics only with the token. */
async function respondsOnlyToItsHost({ baseUrl }: Sluice): Promise<void> {
  const { port } = new URL(baseUrl)
  const metrics = (token: string) =>
    fetch(`http://127.0.0.1:${port}/metrics`, { headers: { authorization: `Bearer ${token}` } })
  expect((await metrics('wrong')).status).toBe(401)
  expect(await (await metrics(production.METRICS_TOKEN)).text()).toContain('sluice_upload_bytes_total')
  const evil = await askRaw('GET', new URL(`http://127.0.0.1:${port}/pipes/x`), { Host: 'evil.example' })
  expect(evil).toMatchObject({ status: 421, body: expect.stringContaining('"code":"misdirected_host"') })
  expect(evil.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
}

it('reports every error in the settings and starts nothing', () => {
  const { status, stderr } = spawnSync(process.execPath, [...PRELOADED, 'server.ts'], {
    encoding: 'utf8',
    env: { ...compileCache(), NODE_ENV: 'production', HOST: '0.0.0.0', PORT: 'x' },
  })
  expect(status).toBe(1)
  expect(stderr).toContain('PORT must be a whole number')
  expect(stderr).toContain('HOST is 0.0.0.0')
  expect(stderr).not.toContain('    at ')
})

it('explains in one line why it does not start, or what is wrong with a command', async () => {
  using folder = temporaryFolder()
  const database = await createDatabase(inject('postgresUrl'))
  const env = {
    ...compileCache(),
    NODE_ENV: 'production' as const,
    PATH: process.env.PATH,
    DATA_DIR: folder.path,
  }
  const shared = { ...env, ...production, DATABASE_URL: database.url }
  const run = (program: string[], given: Record<string, string | undefined>) => {
    const { status, stderr } = spawnSync(process.execPath, [...PRELOADED, ...program], {
      cwd: sourceFolder(),
      encoding: 'utf8',
      env: given as NodeJS.ProcessEnv,
    })
    expect(status, stderr).toBe(1)
    expect(stderr.trimEnd()).not.toContain('\n')
    return stderr
  }
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const { port } = taken.address() as { port: number }
  expect(run(['server.ts'], { ...env, PORT: String(port) })).toMatch(/^Port \d+ is in use by another process/)
  expect(run(['server.ts'], { ...env, PORT: String(port), PROCESSES: '2' })).toMatch(
    /^Port \d+ is in use by another process/,
  )
  taken.close()
  expect(run(['scripts/account.ts', '--nme', 'x'], env)).toMatch(/^Unknown option '--nme'\. Usage: npm run/)

  await putSecretInto(database.url)
  const wrong = { ...shared, ENCRYPTION_KEY: Buffer.alloc(32, 9).toString('base64') }
  expect(run(['scripts/rotate-keys.ts'], wrong)).toMatch(
    /^ENCRYPTION_KEY is not the one .* No key in ENCRYPTION_KEY opens this secret/,
  )
  await database.drop()
})

async function putSecretInto(address: string): Promise<void> {
  const handle = openPostgres({ address })
  await migrate(handle.db)
  await createTestWorkspace(testRuntime(handle))
  await handle.close()
}

it('kill -9 while writing to the embedded database loses nothing that was committed', {
  tags: 'long',
}, async () => {
  using folder = temporaryFolder()
  const writer = spawn(process.execPath, ['test/support/writer.ts', folder.path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let acknowledged = 0
  for await (const chunk of writer.stdout) {
    acknowledged = Number(String(chunk).trimEnd().split('\n').at(-1))
    if (acknowledged > 300) writer.kill('SIGKILL')
  }
  if (writer.exitCode === null && writer.signalCode === null) await once(writer, 'exit')
  const handle = await openDatabase({ dataDir: folder.path }, { log: createLogger('silent') })
  const [row] = await rows<{ n: number; top: number }>(
    handle.db,
    sql`select count(*)::int as n, max(n)::int as top from written`,
  )
  expect(row!.n).toBe(row!.top)
  expect(row!.top).toBeGreaterThanOrEqual(acknowledged)
  await handle.close()
})
