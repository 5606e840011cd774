import { expectAccessibleInLight } from '../../test/support/axe.ts'
import { expect, test } from '../../test/support/browser.ts'

test('a missing page, or an address with invalid values, shows an error inside the dashboard', {
  tag: '@long',
}, async ({ owner: page }) => {
  for (const path of [
    'pipes/pipe_gone',
    'files/gone',
    'senders/gone',
    'data-stores/gone',
    'pipes?cursor=gone',
  ]) {
    const response = await page.goto(`/dashboard/${path}`)
    expect(response!.status(), path).toBe(404)
    await expect(page.getByRole('heading', { name: 'There is nothing here' })).toBeVisible()
    await expect(page.getByRole('navigation', { name: 'Dashboard' })).toBeVisible()
  }
  await expectAccessibleInLight(page, 'a missing page in the dashboard')
  await page.goto('/dashboard/webhooks')
  await page.getByLabel('File, event or delivery id').fill('half an id')
  await expect(page.getByText('search must be the id of a file, an event or a delivery.')).toBeVisible()
  await page.getByRole('button', { name: 'Clear' }).click()
  await expect(page.getByLabel('File, event or delivery id')).toHaveValue('')
  await page.goto('/dashboard/files?senderId=gone')
  await expect(page.getByText('senderId must be the id of a Sender.')).toBeVisible()
  await page.goto('/dashboard/usage?month=gone')
  await expect(page.getByRole('heading', { name: 'Transfer this month' })).toBeVisible()
  await page.goto('/dashboard/usage?month=2025-01')
  await expect(page.getByRole('heading', { name: 'Transfer that month' })).toBeVisible()
  await expect(page.getByText(/^Resets on/)).toHaveCount(0)
  for (const [month, days] of [
    ['2025-01', 31],
    ['2024-02', 29],
  ]) {
    await page.goto(`/dashboard/usage?month=${month}`)
    const chart = page.getByRole('table', { name: 'Transfer per day' })
    await expect(chart.getByRole('row')).toHaveCount(1 + Number(days))
  }
})

test('a missing page shows an error, and a signed-out visitor is redirected to the sign-in page', async ({
  page,
}) => {
  const response = await page.goto('/nowhere')
  expect(response!.status()).toBe(404)
  await expect(page.getByRole('heading', { name: 'There is nothing here' })).toBeVisible()
  await expectAccessibleInLight(page, 'a missing page')
  await page.goto('/dashboard/files?status=failed')
  await expect(page).toHaveURL(/\/login\?next=%2Fdashboard%2Ffiles%3Fstatus%3Dfailed$/)
})
