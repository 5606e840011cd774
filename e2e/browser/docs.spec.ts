import { expect, test } from '../../test/support/browser.ts'

test('documentation search contacts no other server, and each operation has an address', async ({
  page,
  baseURL,
}) => {
  const hosts = new Set<string>()
  page.on('request', (request) => hosts.add(new URL(request.url()).origin))
  await page.goto('/docs/concepts')
  await page.getByLabel('Search the documentation').fill('verify signature')
  const found = page.getByRole('list', { name: 'Search results' })
  await found.getByRole('link').first().click()
  await expect(page).toHaveURL(/\/docs\/webhooks#/)
  await page.getByLabel('Search the documentation').fill('resendDelivery')
  await found.getByRole('link').first().click()
  await expect(page).toHaveURL(/\/docs\/api#resendDelivery$/)
  const operation = page.locator('#resendDelivery')
  await expect(operation).toBeInViewport()
  await expect(operation.getByText('curl -X POST')).toBeVisible()
  await expect(operation.locator('code').first()).toHaveCSS('font-variant-ligatures', 'none')
  await operation.getByRole('tab', { name: 'TypeScript' }).click()
  await expect(operation.getByText('await fetch(')).toBeVisible()
  await operation.getByRole('tab', { name: /^Response/ }).click()
  await expect(operation.getByText('"requestBody"')).toBeVisible()
  expect([...hosts]).toEqual([new URL(baseURL!).origin])
  // On a phone, the page links are a scrolling row, and the open page's link is visible.
  await page.setViewportSize({ width: 390, height: 844 })
  await page.goto('/docs/guides/django')
  const pages = page.getByRole('navigation', { name: 'Documentation pages' })
  await expect(pages.getByRole('link', { name: 'Django' })).toBeInViewport({ ratio: 1 })
})

test('the sitemap lists every page, and pages have canonical addresses', async ({
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
  for (const address of addresses) expect((await request.get(address)).status(), address).toBe(200)
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
