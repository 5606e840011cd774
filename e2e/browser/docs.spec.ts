import { expect, test } from '../../test/support/browser.ts'

const MAX_DOCS_BYTES = 300_000

test('documentation search contacts no other server, and each operation has an address', async ({
  page,
  baseURL,
  complaints,
}) => {
  const hosts = new Set<string>()
  page.on('request', (request) => hosts.add(new URL(request.url()).origin))
  await page.goto('/docs/concepts')
  const field = page.getByLabel('Search the documentation')
  const found = page.getByRole('list', { name: 'Search results' })
  await expect(page.getByText('Ctrl K')).toBeVisible()
  await expect(async () => {
    await page.keyboard.press('/')
    await expect(field).toBeFocused({ timeout: 1000 })
  }).toPass()
  await field.fill('verify webhooks in Python')
  await expect(found.getByRole('link').first()).toContainText('Python')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowDown')
  await expect(found.getByRole('link').nth(1)).toBeFocused()
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/\/docs\/webhooks#python$/)
  await page.keyboard.press('ControlOrMeta+k')
  await field.fill('zzzz')
  await expect(found).toContainText('Nothing has “zzzz”')
  await field.fill('resendDelivery')
  await expect(found.getByRole('link').first()).toContainText('resend')
  await field.press('Enter')
  await expect(page).toHaveURL(/\/docs\/api\/deliveries#resendDelivery$/)
  const operation = page.locator('#resendDelivery')
  await expect(operation).toBeInViewport()
  await expect(operation.getByText('curl -X POST')).toBeVisible()
  await expect(operation.locator('code').first()).toHaveCSS('font-variant-ligatures', 'none')
  await operation.getByRole('tab', { name: 'TypeScript' }).click()
  await expect(operation.getByText('await fetch(')).toBeVisible()
  await operation.getByRole('tab', { name: /^Response/ }).click()
  await expect(operation.getByText('"requestBody"')).toBeVisible()
  // Addresses from when there was a single page still lead to the operation.
  await page.goto('/docs/api#resendDelivery')
  await page.locator('#resendDelivery').getByRole('link').click()
  await expect(operation.getByRole('tab', { name: 'curl' })).toBeVisible()
  expect([...hosts]).toEqual([new URL(baseURL!).origin])
  expect(complaints).toEqual([])
})

test('on a phone, the list of pages opens, and closes once one is chosen', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 })
  await page.goto('/docs/guides/django')
  const pages = page.getByRole('navigation', { name: 'Documentation pages' })
  await expect(pages).toBeHidden()
  await page.getByRole('button', { name: 'Pages' }).click()
  await expect(pages.getByRole('link', { name: 'Django' })).toHaveAttribute('aria-current', 'page')
  await pages.getByRole('link', { name: 'Pricing' }).click()
  await expect(page).toHaveURL(/\/docs\/pricing$/)
  await expect(pages).toBeHidden()
  await page.getByLabel('Files in a month').fill('10000')
  await page.getByLabel('Size of a file in MB').fill('100')
  // 1 TB, of which 10 GB are free; each file takes 12 parts of 8 MiB, and a request before and after them.
  await expect(page.locator('output')).toContainText('990 GB')
  await expect(page.locator('output')).toContainText('140,000 at each bucket')
})

test('tables do not break names in two', async ({ page }) => {
  for (const [path, name] of [
    ['restrictions', 'uploadExpirySeconds'],
    ['web-component', 'keepBytes'],
  ] as const) {
    await page.goto(`/docs/${path}`)
    const code = page.getByRole('cell', { name, exact: true }).locator('code')
    expect(await code.evaluate((box) => box.getClientRects().length), name).toBe(1)
  }
})

test('the sitemap lists every page, and pages have canonical addresses', { tag: '@long' }, async ({
  page,
  request,
  baseURL,
}) => {
  const robots = await (await request.get('/robots.txt')).text()
  expect(robots).toContain('Disallow: /dashboard')
  expect(robots).toContain(`Sitemap: ${new URL(baseURL!).origin}/sitemap.xml`)
  const sitemap = await (await request.get('/sitemap.xml')).text()
  const addresses = [...sitemap.matchAll(/<loc>(.*?)<\/loc>/g)].map(([, address]) => address!)
  expect(addresses.length).toBeGreaterThan(10)
  for (const address of addresses) {
    const response = await request.get(address)
    expect(response.status(), address).toBe(200)
    if (address.includes('/docs'))
      expect((await response.body()).length, address).toBeLessThan(MAX_DOCS_BYTES)
  }
  for (const path of ['/', '/docs/webhooks', '/docs/api']) {
    await page.goto(`${path}?from=elsewhere`)
    const canonical = await page.locator('link[rel=canonical]').getAttribute('href')
    expect(canonical!.replace(/\/$/, '')).toBe(new URL(path, baseURL!).href.replace(/\/$/, ''))
  }
})

test('llms.txt contains the documentation', async ({ request }) => {
  const text = await (await request.get('/llms.txt')).text()
  expect(text).toContain('# Quickstart')
  expect(text).toContain('X-Service-Signature')
  expect(text).not.toContain('{base_url}')
  expect(text).not.toContain('](/')
})
