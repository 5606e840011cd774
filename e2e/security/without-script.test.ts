import { beforeAll, describe, expect, inject, it } from 'vitest'
import { ask } from '../../test/support/raw-http.ts'
import { cookiesOf, signedIn, type Visit } from '../../test/support/session.ts'
import { targetOf } from '../../test/support/target.ts'
import { newTus } from '../../test/support/tus.ts'

/** Forms before their script has loaded, or in a browser without JavaScript: what the browser receives and sends. */
const target = targetOf(inject('demo'))
let visit: Visit
beforeAll(async () => {
  visit = await signedIn(target)
})

const FORM = /<form\b([^>]*)>(.*?)<\/form>/gs
const attribute = (tag: string, name: string) => tag.match(new RegExp(` ${name}="([^"]*)"`))?.[1] ?? ''
const plain = (text: string) =>
  text.replaceAll('&quot;', '"').replaceAll('&amp;', '&').replaceAll('&#x27;', "'")

/** Fills in the page's form that has these fields, and posts it with its hidden fields. */
async function post(path: string, fields: Record<string, string>) {
  const { body } = await visit.get(path)
  const form = [...body.matchAll(FORM)].find(([, , inner]) =>
    Object.keys(fields).every((name) => inner!.includes(`name="${name}"`)),
  )!
  expect(attribute(form[1]!, 'method').toLowerCase()).toBe('post')
  const hidden = [...form[2]!.matchAll(/<input type="hidden"[^>]*>/g)].map(
    ([tag]) => [attribute(tag, 'name'), plain(attribute(tag, 'value'))] as const,
  )
  const data = new FormData()
  for (const [name, value] of [...hidden, ...Object.entries(fields)]) data.append(name, value)
  const encoded = new Response(data)
  const headers = {
    'Content-Type': encoded.headers.get('content-type')!,
    Cookie: visit.cookie,
    Origin: target.baseUrl,
  }
  return ask('POST', new URL(path, target.baseUrl), headers, new Uint8Array(await encoded.arrayBuffer()))
}

function expectPosted(html: string): void {
  const forms = [...html.matchAll(FORM)]
  expect(forms.length).toBeGreaterThan(0)
  for (const [, tag, inner] of forms) {
    expect(attribute(tag!, 'method').toLowerCase(), tag).toBe('post')
    expect(attribute(tag!, 'action'), tag).not.toContain('javascript:')
    expect(inner).toMatch(/name="\$ACTION_/)
  }
}

describe('every form', () => {
  it.each([
    '/dashboard/settings',
    '/dashboard/pipes/new',
    `/dashboard/pipes/${target.pipeId}/settings`,
    `/dashboard/pipes/${target.pipeId}/restrictions`,
    `/dashboard/pipes/${target.pipeId}/sources`,
    `/dashboard/pipes/${target.pipeId}/webhooks`,
    '/dashboard/data-stores/new',
    `/dashboard/data-stores/${target.dataStoreId}`,
    '/dashboard/webhooks/verify',
    '/dashboard/webhooks',
    '/dashboard/senders',
    '/dashboard/settings/keys',
    '/dashboard/settings/sessions',
    '/dashboard/settings/account',
    '/login',
    '/sign-up',
    '/forgot-password',
    '/reset-password',
    '/verify-email',
  ])('on %s is posted to a server action', async (path) => {
    const anybody = path === '/login' || path === '/sign-up'
    const { body } = anybody ? await ask('GET', new URL(path, target.baseUrl)) : await visit.get(path)
    expectPosted(body)
  })

  it('on the Sender and file pages is posted to a server action', async () => {
    const { body: senders } = await target.api<{ data: { id: string }[] }>('GET', '/senders?limit=1')
    const file = (await (await newTus(target)).create(0)).split('/').at(-1)
    for (const path of [`/dashboard/senders/${senders.data[0]!.id}`, `/dashboard/files/${file}`])
      expectPosted((await visit.get(path)).body)
  })
})

describe('signing in', () => {
  beforeAll(() => {
    visit = { ...visit, cookie: '', get: (path) => ask('GET', new URL(path, target.baseUrl)) }
  })
  const { email, password } = target

  it('leads to the dashboard, and to no other site', async () => {
    for (const [next, to] of [
      ['/dashboard/files', '/dashboard/files'],
      ['/dashboard/..//evil.example/x', '/dashboard'],
    ]) {
      const answer = await post(`/login?next=${encodeURIComponent(next!)}`, { email, password })
      expect(answer.status).toBe(303)
      expect(new URL(answer.headers.location!, target.baseUrl).href).toBe(`${target.baseUrl}${to}`)
      expect(cookiesOf(answer)).toMatch(/session-token=./)
    }
  })

  it('shows errors on the page itself, and puts no input into a URL', async () => {
    const { status, body } = await post('/login', { email, password: 'not my password' })
    expect(status).toBe(200)
    expect(body).toContain('The email address or the password is wrong')
    expect(body).not.toContain('not my password')
  })

  it('accepts a pasted link when no script can read it from the URL', async () => {
    const { body } = await post('/reset-password', {
      link: `${target.baseUrl}/reset-password#none`,
      password: 'a long enough password',
    })
    expect(body).toContain('This link has already been used or has expired')
  })
})

it('creating an account key requires the password', async () => {
  visit = await signedIn(target)
  const create = (password: string) =>
    post('/dashboard/settings/keys', { name: 'By a stolen session', password })
  for (const guess of ['', 'not my password']) {
    const { body } = await create(guess)
    expect(body).toContain('Does not match your password')
    expect(body).not.toMatch(/ak_\w{43}/)
  }
  expect((await create(target.password)).body).toMatch(/ak_\w{43}/)
})

it('saving is confirmed on the page', async () => {
  visit = await signedIn(target)
  const { status, body } = await post('/dashboard/settings', { name: 'Demo' })
  expect(status).toBe(200)
  expect(body).toContain('Saved.')
})
