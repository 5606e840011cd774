import AxeBuilder from '@axe-core/playwright'
import type { Page } from 'playwright/test'
import type { DemoDocument } from '#lib/demo/demo-document.ts'
import { expect, listen, test } from '../parts/browser.ts'

const PUBLIC = [
  '/',
  '/docs',
  '/docs/concepts',
  '/docs/token-api',
  '/docs/tus-endpoint',
  '/docs/webhooks',
  '/docs/errors',
  '/docs/limits',
  '/docs/self-hosting',
  '/docs/api',
  '/login',
  '/sign-up',
  '/forgot-password',
  '/reset-password',
  '/verify-email',
]

const DASHBOARD = [
  '/dashboard',
  '/dashboard/data-stores',
  '/dashboard/data-stores/new',
  '/dashboard/data-stores/{dataStoreId}',
  '/dashboard/pipes',
  '/dashboard/pipes/new',
  '/dashboard/pipes/{pipeId}',
  '/dashboard/pipes/{pipeId}/restrictions',
  '/dashboard/pipes/{pipeId}/embed',
  '/dashboard/pipes/{pipeId}/try',
  '/dashboard/pipes/{pipeId}/files',
  '/dashboard/pipes/{pipeId}/settings',
  '/dashboard/senders',
  '/dashboard/files',
  '/dashboard/webhooks',
  '/dashboard/webhooks/inbox',
  '/dashboard/webhooks/verify',
  '/dashboard/usage',
  '/dashboard/settings',
  '/dashboard/settings/sessions',
  '/dashboard/settings/keys',
  '/dashboard/settings/audit',
  '/dashboard/settings/account',
]

const MOST_SCRIPT_BYTES = 200_000
const MOST_SHIFT = 0.02

/** Everything that holds for any page, in both modes and on a phone. */
async function look(page: Page, path: string, demo: DemoDocument): Promise<void> {
  const complaints = listen(page)
  let scriptBytes = 0
  page.on('requestfinished', async (request) => {
    if (request.resourceType() !== 'script') return
    scriptBytes += (await request.sizes().catch(() => ({ responseBodySize: 0 }))).responseBodySize
  })
  await page.addInitScript(() => {
    const shifts: number[] = []
    Object.assign(window, { shifts })
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) shifts.push((entry as unknown as { value: number }).value)
    }).observe({ type: 'layout-shift', buffered: true })
  })
  const response = await page.goto(path)
  expect(response!.status(), path).toBe(200)
  await page.waitForLoadState('load')
  const policy = await response!.headerValue('content-security-policy')
  expect(policy).toMatch(/script-src [^;]*'nonce-/)
  expect(policy).not.toMatch(/script-src [^;]*'unsafe-inline'/)

  await page.emulateMedia({ colorScheme: 'light' })
  await clean(page, path, 'light')
  await page.emulateMedia({ colorScheme: 'dark' })
  await clean(page, path, 'dark', COLOURS)

  const html = await page.content()
  for (const secret of [
    demo.senderToken,
    demo.accountKey,
    demo.webhookSecret,
    demo.bucket.secretAccessKey,
    demo.password,
  ]) {
    expect(html.includes(secret), `a secret in ${path}`).toBe(false)
  }
  if (!path.endsWith('/try')) expect(scriptBytes, `script of ${path}`).toBeLessThan(MOST_SCRIPT_BYTES)
  expect(scriptBytes).toBeGreaterThan(0)
  const shift = await page.evaluate(() =>
    (window as unknown as { shifts: number[] }).shifts.reduce((a, b) => a + b, 0),
  )
  expect(shift, `layout shift of ${path}`).toBeLessThan(MOST_SHIFT)
  await page.setViewportSize({ width: 390, height: 844 })
  const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
  expect(over, `${path} is wider than a phone`).toBeLessThanOrEqual(0)
  expect(complaints, path).toEqual([])
}

/** What the other mode can change. */
const COLOURS = ['color-contrast', 'link-in-text-block']

async function clean(page: Page, path: string, mode: string, rules?: string[]): Promise<void> {
  const axe = new AxeBuilder({ page })
  const { violations } = await (rules ? axe.withRules(rules) : axe).analyze()
  const grave = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
  const told = grave.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
  expect(told, `${path}, ${mode}`).toEqual([])
}

for (const path of PUBLIC) {
  test(`${path} is light, still, quiet and accessible`, ({ page, demo }) => look(page, path, demo))
}

for (const path of DASHBOARD) {
  test(`${path} is light, still, quiet and accessible`, ({ owner, demo }) => {
    const { pipeId, dataStoreId } = demo
    return look(owner, path.replace('{pipeId}', pipeId).replace('{dataStoreId}', dataStoreId), demo)
  })
}

test('a page that is not there says so, and a stranger is sent to sign in', async ({ page }) => {
  const response = await page.goto('/nowhere')
  expect(response!.status()).toBe(404)
  await expect(page.getByRole('heading', { name: 'There is nothing here' })).toBeVisible()
  await page.goto('/dashboard/files?status=failed')
  await expect(page).toHaveURL(/\/login\?next=%2Fdashboard%2Ffiles%3Fstatus%3Dfailed$/)
})

test('llms.txt holds the documentation', async ({ request }) => {
  const text = await (await request.get('/llms.txt')).text()
  expect(text).toContain('# Quickstart')
  expect(text).toContain('X-Service-Signature')
  expect(text).not.toContain('{base_url}')
})

test('a form takes no post from another site', async ({ owner: page, baseURL }) => {
  await page.goto('/dashboard/senders')
  await page.getByRole('button', { name: 'Create a Sender' }).click()
  await page.getByLabel('Name').fill('forged')
  const sent = page.waitForRequest(
    (request) => request.method() === 'POST' && 'next-action' in request.headers(),
  )
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  const action = await sent
  const cookies = (await page.context().cookies()).map(({ name, value }) => `${name}=${value}`).join('; ')
  const headers = {
    'Next-Action': action.headers()['next-action']!,
    'Content-Type': action.headers()['content-type']!,
    Cookie: cookies,
    Origin: 'https://evil.example',
  }
  const answer = await fetch(`${baseURL}/dashboard/senders`, {
    method: 'POST',
    headers,
    body: action.postDataBuffer()! as BodyInit,
  })
  expect(answer.status).toBe(500)
  await page.reload()
  await expect(page.getByRole('link', { name: 'forged' })).toHaveCount(1)
})
