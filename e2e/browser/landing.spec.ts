import { expect, test } from '../../test/support/browser.ts'

test('the landing page shows a real upload that resumes', async ({ page, complaints }) => {
  await page.goto('/')
  const demo = page.getByRole('region', { name: 'Live demo' })
  await demo.getByRole('button', { name: /of random data/ }).click()
  const figure = async (name: string) =>
    Number(await demo.locator(`[data-figure=${name}]`).getAttribute('data-value'))
  await expect.poll(() => figure('confirmed')).toBeGreaterThan(0)
  await demo.getByRole('button', { name: 'Cut the connection' }).click()
  await expect.poll(() => figure('saved')).toBeGreaterThan(0)
  await expect(demo.getByText('in the bucket')).toBeVisible({ timeout: 30_000 })
  expect(complaints.filter((line) => !line.includes('ERR_FAILED'))).toEqual([])
})

test('the demo continues automatically after a minute offline', { tag: '@long' }, async ({
  page,
  context,
}) => {
  await page.clock.install()
  await page.goto('/')
  const demo = page.getByRole('region', { name: 'Live demo' })
  await demo.getByRole('button', { name: /of random data/ }).click()
  await expect(demo.getByText('on its way')).toBeVisible()
  await context.setOffline(true)
  await expect(demo.getByText('Waiting for the network. Retrying automatically.').last()).toBeVisible()
  for (let seconds = 0; seconds < 60; seconds += 5) await page.clock.runFor(5000)
  await context.setOffline(false)
  await expect(demo.getByText('in the bucket')).toBeVisible({ timeout: 30_000 })
})

test('the color mode is kept, and the server renders pages in it', async ({ page, request }) => {
  await page.goto('/')
  await page.getByRole('button', { name: 'Color mode: system' }).click()
  await page.getByRole('button', { name: 'Color mode: light' }).click()
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark')
  await page.reload()
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark')
  const html = await (await request.get('/', { headers: { Cookie: 'theme=dark' } })).text()
  expect(html).toContain('data-theme="dark"')
})

test('the demo shows why an upload was refused, and offers to try again', async ({ page }) => {
  await page.route('**/pipes/*/files/', (route) =>
    route.request().method() === 'POST'
      ? route.fulfill({ status: 403, json: { detail: 'The demo has no transfer left this month.' } })
      : route.continue(),
  )
  await page.goto('/')
  const demo = page.getByRole('region', { name: 'Live demo' })
  await demo.getByRole('button', { name: /of random data/ }).click()
  await expect(demo.getByText('refused', { exact: true })).toBeVisible()
  await expect(demo.getByText('The demo has no transfer left this month.')).toBeVisible()
  await page.unrouteAll()
  await demo.getByRole('button', { name: /of random data/ }).click()
  await expect(demo.getByText('on its way')).toBeVisible()
})
