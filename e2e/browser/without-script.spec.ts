import type { Page } from 'playwright/test'
import { api, expect, test } from '../../test/support/browser.ts'

/** A browser without script: the content of script dialogs is next to the button, collapsed. */
async function unfold(page: Page, title: string | RegExp) {
  const details = page.locator('details', { has: page.locator('summary', { hasText: title }) })
  await details.locator('summary').click()
  return details
}

test('confirmations are shown, answered and carried out without a script', async ({
  browser,
  baseURL,
  demo,
}) => {
  const context = await browser.newContext({
    baseURL: baseURL!,
    storageState: process.env.SLUICE_STATE!,
    javaScriptEnabled: false,
  })
  const page = await context.newPage()

  await page.goto('/dashboard/senders')
  await expect(page.getByRole('button', { name: 'Create a Sender' })).toHaveCount(0)
  const create = await unfold(page, 'Create a Sender')
  await create.getByLabel('Name').fill('Without a script')
  await create.getByRole('button', { name: 'Create' }).click()
  await expect(page.getByText(/^sk_\w{43}/)).toBeVisible()
  expect(page.url()).not.toMatch(/sk_|script/)
  await page.goto('/dashboard/senders')
  await expect(page.getByText(/sk_\w{43}/)).toHaveCount(0)

  await page.getByRole('link', { name: 'Without a script', exact: true }).click()
  const rotate = await unfold(page, 'Rotate the token')
  await rotate.getByRole('button', { name: 'Rotate' }).click()
  await expect(page.getByText(/^sk_\w{43}/)).toBeVisible()

  const revoke = () => unfold(page, 'Revoke Without a script')
  let asked = await revoke()
  await asked.getByLabel(/to confirm/).fill('another')
  await asked.getByRole('button', { name: 'Revoke this Sender' }).click()
  const told = page.locator('details [id$="-error"]')
  await expect(told).toHaveText('Is not Without a script.')
  await expect(told).toBeVisible()
  asked = page.locator('details', { hasText: 'Revoke Without a script' })
  await asked.getByLabel(/to confirm/).fill('Without a script')
  await asked.getByRole('button', { name: 'Revoke this Sender' }).click()
  const find = async () => {
    type Senders = { data: { name: string; revokedAt: string | null }[] }
    const { data } = await api<Senders>(demo, 'GET', '/senders?limit=100')
    return data.find(({ name }) => name === 'Without a script')
  }
  await expect.poll(async () => (await find())?.revokedAt ?? null).not.toBeNull()

  await page.setViewportSize({ width: 390, height: 844 })
  await page.goto('/dashboard')
  const menu = await unfold(page, 'Menu')
  await menu.getByRole('link', { name: 'Pipes' }).click()
  await expect(page).toHaveURL(/\/dashboard\/pipes$/)
  await context.close()
})

test('actions without a dialog take effect immediately without a script', async ({
  browser,
  baseURL,
  demo,
}) => {
  const fields = { name: 'Plain', dataStoreId: demo.dataStoreId, source: { http: false } }
  const { id } = await api<{ id: string }>(demo, 'POST', '/pipes', fields)
  const context = await browser.newContext({
    baseURL: baseURL!,
    storageState: process.env.SLUICE_STATE!,
    javaScriptEnabled: false,
  })
  const page = await context.newPage()

  await page.goto(`/dashboard/pipes/${id}`)
  const source = page.getByRole('switch', { name: 'HTTP (TUS)' })
  await source.click()
  await expect(source).toBeChecked()
  await source.click()
  await expect(source).not.toBeChecked()

  await page.getByLabel('Address').fill('https://hooks.example/sluice')
  await page.getByRole('button', { name: 'Switch on' }).click()
  const webhook = page.getByRole('switch', { name: 'Webhook' })
  await expect(webhook).toBeChecked()
  await page.getByRole('button', { name: 'Reveal' }).click()
  await expect(page.getByText(/^whsec_[\w+/=]{20}/)).toBeVisible()
  expect(page.url()).not.toContain('whsec_')
  await page.getByRole('button', { name: 'Send a test' }).click()
  await expect(page.getByRole('link', { name: 'view the response' })).toHaveAttribute(
    'href',
    /\?delivery=[0-9a-f-]{36}$/,
  )
  await webhook.click()
  await expect(webhook).not.toBeChecked()

  await page.goto(`/dashboard/data-stores/${demo.dataStoreId}`)
  await page.getByRole('button', { name: 'Check now' }).click()
  await expect(page.getByText('Uploads can go to this bucket.')).toBeVisible()
  await context.close()
})
