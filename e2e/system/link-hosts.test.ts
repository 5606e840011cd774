import { globSync } from 'node:fs'
import { eq } from 'drizzle-orm'
import { encode } from 'next-auth/jwt'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { linkHosts } from '#drizzle/schema/index.ts'
import { OPERATIONS } from '#lib/api/operations.ts'
import { createSession } from '#lib/identity/sessions/sessions.ts'
import { systemClock } from '#lib/platform/kernel/clock.ts'
import { parseInput } from '#lib/platform/kernel/parse-input.ts'
import { saveLinkHost } from '#lib/upload-links/link-host.ts'
import { saveLogo } from '#lib/upload-links/link-pages.ts'
import { issueToken } from '#lib/workspace/tokens/issue-token.ts'
import { tokenInput } from '#lib/workspace/tokens/token.ts'
import { type Furnished, furnish } from '../../test/support/api-recipes.ts'
import { openTestDatabase } from '../../test/support/databases.ts'
import { DASHBOARD_PAGES, PUBLIC_PAGES } from '../../test/support/pages.ts'
import { type Answer, open, requestHead } from '../../test/support/raw-http.ts'
import { type TestRuntime, testRuntime } from '../../test/support/runtime.ts'
import { sampleOf } from '../../test/support/sample-files.ts'
import { actionIds } from '../../test/support/session.ts'
import { type Sluice, startSluice, temporaryFolder } from '../../test/support/sluice.ts'

/**
 * What several processes behind one port serve on a workspace's own host to someone who sends it the owner's session and
 * key: nothing but the workspace's own links and uploads.
 */
const AUTH_SECRET = 'a secret of thirty-two characters'
const [OWN, UNVERIFIED] = ['files.customer.example', 'files.other.example']
const folder = temporaryFolder()
let database: Awaited<ReturnType<typeof openTestDatabase>>
let runtime: TestRuntime
let sluice: Sluice
let mine: Furnished
let theirs: Furnished
let credentials: Record<string, string>

beforeAll(async () => {
  database = await openTestDatabase()
  runtime = { ...testRuntime(database), clock: { ...systemClock, advance() {} } }
  mine = await furnish(runtime)
  theirs = await furnish(runtime)
  await saveLinkHost(runtime, mine.actor, { host: OWN })
  await saveLinkHost(runtime, theirs.actor, { host: UNVERIFIED })
  const ofMine = eq(linkHosts.workspaceId, mine.workspaceId)
  await runtime.db.update(linkHosts).set({ verifiedAt: new Date() }).where(ofMine)
  const { id: sid } = await createSession(runtime, mine.userId, { userAgent: null, address: null })
  const session = await encode({ token: { sid }, secret: AUTH_SECRET })
  credentials = {
    Cookie: `next-auth.session-token=${session}`,
    Authorization: `Bearer ${mine.accountKey.key}`,
  }
  sluice = await startSluice({
    ROLES: 'upload,web',
    PROCESSES: '2',
    HOST: '127.0.0.1',
    BASE_URL: 'http://localhost:0',
    DATA_DIR: folder.path,
    DATABASE_URL: database.url,
    ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    AUTH_SECRET,
    LOG_LEVEL: 'warn',
  })
})
afterAll(async () => {
  await sluice?.stop()
  await database?.close()
  folder[Symbol.dispose]()
})

const port = () => new URL(sluice.baseUrl).port

async function ask(
  method: string,
  path: string,
  { host = OWN, body = '', ...fields }: { host?: string; body?: string } & Record<string, string> = {},
): Promise<Answer> {
  await using connection = open(new URL(`http://127.0.0.1:${port()}`))
  const url = new URL(path, `http://${host}:${port()}`)
  const length = body || method === 'POST' ? { 'Content-Length': body.length } : {}
  connection.write(requestHead(method, url, { Connection: 'close', ...length, ...fields }) + body)
  return await connection.answer(method)
}

/** The paths of all pages and route handlers in the source. */
const inSource = globSync('app/**/{page.tsx,route.ts}').map((file) => {
  const folders = file.split('/').slice(1, -1)
  const names = folders.filter((name) => !name.startsWith('('))
  return `/${names.map((name) => name.replace(/^\[.*\]$/, 'x')).join('/')}`
})
const ofLinks = new Set(['/u/x', '/u/logo/x'])

it('serves no page and no route but those of links, even with credentials', async () => {
  expect(inSource.filter((path) => ofLinks.has(path))).toHaveLength(2)
  const paths = [...inSource, ...PUBLIC_PAGES, ...DASHBOARD_PAGES].filter((path) => !ofLinks.has(path))
  expect(paths.length).toBeGreaterThan(150)
  for (const path of paths)
    for (const method of ['GET', 'POST']) {
      const { status, headers, body } = await ask(method, path, credentials)
      expect([status, JSON.parse(body).code, headers['set-cookie']], `${method} ${path}`).toEqual([
        404,
        'not_found',
        undefined,
      ])
    }
})

it("serves no operation but the two that a link's page calls, even with credentials", async () => {
  const json = { ...credentials, 'Content-Type': 'application/json', body: '{}' }
  const served: string[] = []
  for (const { id, method, path } of OPERATIONS) {
    const answer = await ask(method, `/api/v1${path.replaceAll(/\{\w+\}/g, 'x')}`, json)
    expect(answer.headers['set-cookie'], id).toBeUndefined()
    if (answer.status === 404 && JSON.parse(answer.body).detail === 'Not found.') continue
    served.push(id)
  }
  expect(served.sort()).toEqual(['openUploadLink', 'sendReceipt'])
})

it('runs no server action, even with credentials', async () => {
  const ids = [...actionIds().values()]
  expect(ids.length).toBeGreaterThan(40)
  for (const id of ids) {
    const fields = { ...credentials, Origin: `http://${OWN}:${port()}`, 'Next-Action': id, body: '[]' }
    const { status, headers } = await ask('POST', `/u/${mine.link.code}`, fields)
    expect([status, headers['set-cookie']], id).toEqual([404, undefined])
  }
})

it("serves the workspace's own link and logo, and those of no other", async () => {
  const [logo, other] = await Promise.all(
    [mine, theirs].map(async ({ actor }, at) => {
      const image = Buffer.concat([sampleOf('png'), Buffer.from([at])]).toString('base64')
      return (await saveLogo(runtime, actor, { image })).logoUrl!.split('/').at(-1)!
    }),
  )
  const [page, image] = [await ask('GET', `/u/${mine.link.code}`), await ask('GET', `/u/logo/${logo}`)]
  expect([page.status, image.status]).toEqual([200, 200])
  expect(page.body).toContain('Films for May')
  expect(page.body).toContain(`http://${OWN}:${port()}/u/logo/${logo}`)
  expect(page.body).toContain(`property="og:image" content="http://${OWN}:${port()}/share.png"`)
  expect(page.body).not.toContain('localhost')
  expect(page.headers['content-security-policy']).toContain(`connect-src 'self' http://${OWN}:${port()};`)
  for (const { headers } of [page, image]) expect(headers['set-cookie']).toBeUndefined()

  const link = await ask('GET', `/u/${theirs.link.code}`)
  expect([link.status, link.body.includes('Films for May')]).toEqual([404, false])
  expect((await ask('GET', `/u/logo/${other}`)).status).toBe(404)
  const main = { host: 'localhost' }
  expect((await ask('GET', `/u/${theirs.link.code}`, main)).status).toBe(200)
  expect((await ask('GET', `/u/logo/${other}`, main)).status).toBe(200)
})

it("accepts uploads to the workspace's own Pipes, at its own address, and to no others", async () => {
  const json = { 'Content-Type': 'application/json' }
  const enter = ({ link }: Furnished) =>
    ask('POST', '/api/v1/upload-links/open', {
      ...json,
      body: JSON.stringify({ code: link.code, visitor: 'w'.repeat(43) }),
    })
  expect((await enter(theirs)).status).toBe(404)
  const { upload } = JSON.parse((await enter(mine)).body)
  expect(upload.uploadUrl).toBe(`http://${OWN}:${port()}/pipes/${mine.pipe.id}/files/`)

  const create = (pipeId: string, token: string) =>
    ask('POST', `/pipes/${pipeId}/files/`, {
      Authorization: `Bearer ${token}`,
      'Tus-Resumable': '1.0.0',
      'Upload-Length': '5',
    })
  const made = await create(mine.pipe.id, upload.token)
  expect(made.status, made.body).toBe(201)
  expect(made.headers.location).toMatch(new RegExp(`^${upload.uploadUrl}[0-9a-f-]{36}$`))
  const path = new URL(made.headers.location!).pathname
  const tus = { Authorization: `Bearer ${upload.token}`, 'Tus-Resumable': '1.0.0' }
  expect((await ask('HEAD', path, tus)).status).toBe(200)

  const input = parseInput(tokenInput, { pipeId: theirs.pipe.id })
  const { token } = await issueToken(runtime, theirs.sender.token, input)
  const refused = await create(theirs.pipe.id, token)
  expect([refused.status, JSON.parse(refused.body).code]).toEqual([404, 'pipe_not_found'])
  for (const method of ['OPTIONS', 'GET', 'HEAD', 'PUT', 'PATCH', 'DELETE'])
    expect((await ask(method, `/pipes/${theirs.pipe.id}/files/`, tus)).status, method).toBe(404)
})

it('refuses a host that is not verified, and answers for certificates only if it is', async () => {
  for (const path of [`/u/${theirs.link.code}`, `/pipes/${theirs.pipe.id}/files/`, '/'])
    expect((await ask('GET', path, { host: UNVERIFIED })).status).toBe(421)
  for (const [domain, status] of [
    [OWN, 200],
    [UNVERIFIED, 404],
  ] as const)
    expect((await ask('GET', `/readyz?domain=${domain}`, { host: 'web-1' })).status).toBe(status)
})
