import { expect, test } from '../../test/support/browser.ts'

test("if the server sends no email, the demo's owner finds the message and its link in the settings", async ({
  page,
  owner,
  demo,
}) => {
  await page.goto('/forgot-password')
  await page.getByLabel('Email').fill(demo.email)
  await page.getByRole('button', { name: 'Create a link' }).click()
  await expect(page.getByText('This server does not send email', { exact: true })).toBeVisible()
  expect(await page.content()).not.toContain(process.env.SLUICE_DATA!)
  await page.goto('/login')
  await expect(page.getByText('There is a demo workspace')).toBeVisible()
  expect(await page.content()).not.toContain(process.env.SLUICE_DATA!)
  await owner.goto('/dashboard/settings/mails')
  await owner.getByRole('link', { name: /reset-password#/ }).click()
  await expect(owner.getByRole('heading', { name: 'Set a new password' })).toBeVisible()
})

test('an incomplete link from an email shows a warning, and leads to a new one', async ({ page }) => {
  for (const [path, next, to] of [
    ['/reset-password', 'Request a new link', /\/forgot-password$/],
    ['/verify-email', 'Request a new link in Settings', /\/login\?next=/],
  ] as const) {
    await page.goto(path)
    await expect(page.getByText('This link is incomplete')).toBeVisible()
    await expect(page.getByLabel(/password/i)).toHaveCount(0)
    await page.getByRole('link', { name: next }).click()
    await expect(page).toHaveURL(to)
  }
  await page.goto('/reset-password')
  // While Next starts, it overwrites a recently changed address.
  await expect(page.getByText('This link is incomplete')).toBeVisible()
  await page.evaluate(() => {
    window.location.hash = 'pasted'
  })
  await expect(page.getByLabel('New password')).toBeVisible()
})
