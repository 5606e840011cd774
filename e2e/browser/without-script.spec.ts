import type { Page } from 'playwright/test'
import { api, expect, test } from '../../test/support/browser.ts'

/** Opens a dialog's content, which is collapsed next to its button in browsers without JavaScript. */
async function unfold(page: Page, title: string | RegExp) {
  const details = page.locator('details', { has: page.locator('summary', { hasText: title }) })
  await details.locator('summary').click()
  return details
}

test('dialogs can be opened and submitted without JavaScript', async ({ browser, baseURL, demo }) => {
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
  await expect(told).toHaveText('Must be Without a script.')
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

test('an upload link is created, edited, closed and deleted without JavaScript', { tag: '@long' }, async ({
  browser,
  baseURL,
  demo,
}) => {
  const fields = { name: 'Links without a script', dataStoreId: demo.dataStoreId, source: { http: true } }
  const { id } = await api<{ id: string }>(demo, 'POST', '/pipes', fields)
  const context = await browser.newContext({
    baseURL: baseURL!,
    storageState: process.env.SLUICE_STATE!,
    javaScriptEnabled: false,
  })
  const page = await context.newPage()
  const links = `/dashboard/pipes/${id}/links`
  const row = page.getByRole('row', { name: 'Rushes' })

  await page.goto(links)
  await page.getByRole('link', { name: 'Create a link' }).click()
  // While there are no links, the page has no other button.
  const create = page.locator('details', { hasText: 'Create an upload link' })
  await create.getByLabel('Title').fill('Rushes')
  await create.getByLabel('Password').fill('sesame!')
  await create.getByRole('button', { name: 'Create' }).click()
  const told = page.locator('details [id$="-error"]')
  await expect(told).toHaveText('Must have at least 8 characters.')
  await expect(told).toBeVisible()
  expect(await page.content()).not.toContain('sesame!')
  await create.getByLabel('Title').fill('Rushes')
  await create.getByLabel('Password').fill('open sesame')
  await create.getByLabel('Total files').fill('3')
  await create.getByRole('button', { name: 'Create' }).click()
  const made = page.getByText(/\/u\/\w{22}$/)
  await expect(made).toBeVisible()
  const code = (await made.innerText()).split('/u/')[1]!
  expect(page.url()).not.toContain(code)
  expect(await page.content()).not.toContain('sesame')
  await page.goto(links)
  expect(await page.content()).not.toContain(code)
  await expect(row).toContainText('0 of 3')

  const open = async (password?: string) => {
    const asked = { code, visitor: 'v'.repeat(43), ...(password && { password }) }
    return (await api<{ upload: object | null }>(demo, 'POST', '/upload-links/open', asked)).upload
  }
  expect([await open(), await open('open sesame')]).toEqual([null, expect.anything()])
  let asked = await unfold(page, 'Edit Rushes')
  await asked.getByLabel('New password').fill('open barley')
  await asked.getByRole('button', { name: 'Save' }).click()
  await expect(page.locator('[data-form-done]')).toHaveText('Saved.')
  expect([await open(), await open('open barley')]).toEqual([null, expect.anything()])
  await page.goto(links)
  asked = await unfold(page, 'Edit Rushes')
  await asked.getByLabel('Remove the password').check()
  await asked.getByRole('button', { name: 'Save' }).click()
  await expect(page.locator('[data-form-done]')).toHaveText('Saved.')
  expect(await open()).not.toBeNull()

  await page.goto(links)
  await page.getByRole('button', { name: 'Close Rushes' }).click()
  await expect(row).toContainText('closed')
  expect(await open()).toBeNull()
  await page.getByRole('button', { name: 'Reopen Rushes' }).click()
  await expect(row).toContainText('open')

  asked = await unfold(page, 'Delete Rushes')
  await asked.getByLabel(/to confirm/).fill('rushes')
  await asked.getByRole('button', { name: 'Delete this link' }).click()
  await expect(told).toHaveText('Must be Rushes.')
  asked = page.locator('details', { hasText: 'Delete Rushes' })
  await asked.getByLabel(/to confirm/).fill('Rushes')
  await asked.getByRole('button', { name: 'Delete this link' }).click()
  await expect(page.getByText('No upload links yet')).toBeVisible()
  await context.close()
})

test('actions without a dialog take effect immediately without JavaScript', async ({
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

  await page.goto(`/dashboard/pipes/${id}/sources`)
  const source = page.getByRole('switch', { name: 'HTTP (TUS)' })
  await source.click()
  await expect(source).toBeChecked()
  await source.click()
  await expect(source).not.toBeChecked()

  await page.goto(`/dashboard/pipes/${id}/webhooks`)
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
