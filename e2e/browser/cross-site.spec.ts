import { readFileSync } from 'node:fs'
import { api, expect, test } from '../../test/support/browser.ts'

/**
 * Requests that another site's page could send if the browser included the cookies. They are sent without a browser, so
 * no browser protection applies.
 */
const EVIL = 'https://evil.example'

type Cookie = { name: string; value: string }
type Manifest = { node: Record<string, { exportedName: string; filename: string }> }

const signedIn = () =>
  (JSON.parse(readFileSync(process.env.SLUICE_STATE!, 'utf8')).cookies as Cookie[])
    .map(({ name, value }) => `${name}=${value}`)
    .join('; ')

function post(
  path: string,
  headers: Record<string, string>,
  body: BodyInit | null = null,
): Promise<Response> {
  return fetch(`${process.env.SLUICE_URL}${path}`, { method: 'POST', redirect: 'manual', headers, body })
}

/** The two ways to call an action: with a script, and with a form that needs no script. */
const byScript = (id: string, Origin: string) =>
  post('/dashboard', { Origin, Cookie: signedIn(), 'Next-Action': id, 'Content-Type': 'text/plain' }, '["x"]')

function byForm(id: string, Origin: string): Promise<Response> {
  const form = new FormData()
  form.set(`$ACTION_ID_${id}`, '')
  return post('/', { Origin, Cookie: signedIn() }, form)
}

/** Calls a form's action as a script does, with the previous state and the fields. */
function createSender(id: string, Origin: string, name: string): Promise<Response> {
  const form = new FormData()
  form.set('_1_name', name)
  form.set('0', '[{"status":"idle"},"$K1"]')
  return post('/dashboard/senders', { Origin, Cookie: signedIn(), 'Next-Action': id }, form)
}

test('server actions reject posts from other sites', async ({ baseURL, demo }) => {
  const { node }: Manifest = JSON.parse(readFileSync('.next/server/server-reference-manifest.json', 'utf8'))
  const idOf = (name: string) => Object.keys(node).find((id) => node[id]!.exportedName === name)!
  expect((await byScript(idOf('findAnything'), baseURL!)).status).toBe(200)
  expect((await byForm(idOf('takeDemoToken'), baseURL!)).status).toBe(200)
  expect(Object.keys(node).length).toBeGreaterThan(40)
  for (const [id, { exportedName }] of Object.entries(node)) {
    const answers = await Promise.all([byScript(id, EVIL), byForm(id, EVIL), byForm(id, 'null')])
    expect(
      answers.map(({ status }) => status),
      exportedName,
    ).toEqual([403, 403, 403])
    for (const answer of answers) expect(answer.headers.getSetCookie(), exportedName).toEqual([])
  }

  // The same request has an effect when it comes from Sluice's own origin.
  const sender = Object.keys(node).find((id) => {
    const { exportedName, filename } = node[id]!
    return exportedName === 'create' && filename === 'app/dashboard/senders/actions.ts'
  })!
  const [forged, own] = [`forged ${Date.now()}`, `own ${Date.now()}`]
  for (const origin of [EVIL, 'null']) expect((await createSender(sender, origin, forged)).status).toBe(403)
  expect((await createSender(sender, baseURL!, own)).status).toBe(200)
  const { data } = await api<{ data: { name: string }[] }>(demo, 'GET', '/senders?limit=100')
  const names = data.map(({ name }) => name)
  expect(names).toContain(own)
  expect(names).not.toContain(forged)
})

test('a request that is not a server action is not authorized by cookies alone', async ({ demo }) => {
  const cookies = { Origin: EVIL, Cookie: signedIn() }
  const json = { ...cookies, 'Content-Type': 'application/json' }
  const tus = { ...cookies, 'Tus-Resumable': '1.0.0', 'Upload-Length': '1' }
  expect((await post('/api/v1/senders', json, '{"name":"forged"}')).status).toBe(401)
  expect((await post('/api/v1/tokens', json, JSON.stringify({ pipeId: demo.pipeId }))).status).toBe(401)
  expect((await post(`/pipes/${demo.pipeId}/files/`, tus)).status).toBe(401)

  const { email, password, baseUrl } = demo
  const signIn = (csrfToken: string, Cookie: string) =>
    post(
      '/api/auth/callback/credentials',
      { Origin: EVIL, Cookie },
      new URLSearchParams({ email, password, csrfToken }),
    )
  const session = (answer: Response) =>
    answer.headers.getSetCookie().find((cookie) => cookie.includes('session-token='))
  const own = await fetch(`${baseUrl}/api/auth/csrf`)
  const { csrfToken } = (await own.json()) as { csrfToken: string }
  const ownCookie = own.headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0])
    .join('; ')
  expect(session(await signIn(csrfToken, ''))).toBeUndefined()
  expect(session(await signIn(csrfToken, ownCookie))).toBeDefined()
  expect(session(await post('/api/auth/signout', cookies, new URLSearchParams()))).toBeUndefined()
  const { status } = await fetch(`${baseUrl}/dashboard`, { headers: cookies, redirect: 'manual' })
  expect(status).toBe(200)
})
