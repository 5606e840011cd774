import type { Page } from 'playwright/test'
import { makeKeyPair } from '#lib/sftp/make-key-pair.ts'
import { expectAccessible } from '../../test/support/axe.ts'
import { api, expect, test } from '../../test/support/browser.ts'

type Made = { id: string }
type Key = { name: string; fingerprint: string; subject: string | null }

const rowOf = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name })

test('a key is pasted, rejected if it is invalid, listed by its fingerprint, and removed', async ({
  owner: page,
  demo,
}) => {
  const { id } = await api<Made>(demo, 'POST', '/senders', { name: 'with keys' })
  const { public: publicKey, private: privateKey } = makeKeyPair()
  await page.goto(`/dashboard/senders/${id}`)
  const dialog = page.getByRole('dialog')
  const add = async (fields: { Name: string; 'Public key': string; Subject?: string }) => {
    for (const [label, text] of Object.entries(fields)) await dialog.getByLabel(label).fill(text)
    await dialog.getByRole('button', { name: 'Add' }).click()
  }
  await page.getByRole('button', { name: 'Add a key' }).click()
  await add({ Name: 'Studio', 'Public key': '' })
  await expect(dialog.getByText('Must be one line as in id_ed25519.pub')).toBeVisible()
  await expect(dialog.getByLabel('Public key')).toBeFocused()
  await add({ Name: 'Studio', 'Public key': privateKey })
  await expect(dialog.getByText('Is a private key; paste the public key')).toBeVisible()
  await expectAccessible(page, 'Add an SSH key with an error', '[role=dialog]')
  await add({ Name: 'Studio', 'Public key': `${publicKey} me@studio\n`, Subject: 'studio-7' })
  await expect(dialog).toHaveCount(0)

  const { data } = await api<{ data: Key[] }>(demo, 'GET', `/senders/${id}/keys`)
  expect(data).toMatchObject([{ name: 'Studio', subject: 'studio-7' }])
  const row = rowOf(page, 'Studio')
  for (const text of [data[0]!.fingerprint, 'studio-7', 'never']) await expect(row).toContainText(text)
  await expectAccessible(page, 'a Sender with a key')
  await page.setViewportSize({ width: 360, height: 800 })
  await expect(row).toContainText(data[0]!.fingerprint)
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360)

  await page.getByRole('button', { name: 'Add a key' }).click()
  await add({ Name: 'Again', 'Public key': publicKey })
  await expect(dialog.getByRole('alert')).toContainText('already has this key')
  await page.keyboard.press('Escape')
  await expect(dialog).toHaveCount(0)

  await row.getByRole('button', { name: 'Remove' }).click()
  await dialog.getByRole('button', { name: 'Remove' }).click()
  // While the dialog is open, elements behind it have no roles.
  await expect(dialog).toHaveCount(0)
  await expect(row).toHaveCount(0)
  await page.goto('/dashboard/settings/audit?action=sender')
  for (const done of ['sender.key_added', 'sender.key_removed'])
    await expect(
      page.getByRole('row').filter({ hasText: done }).filter({ hasText: 'with keys' }),
    ).toHaveCount(1)
})

test('keys are added and removed without JavaScript, even those of a revoked Sender', async ({
  browser,
  baseURL,
  demo,
}) => {
  const { id } = await api<Made>(demo, 'POST', '/senders', { name: 'keys without a script' })
  const storageState = process.env.SLUICE_STATE!
  const context = await browser.newContext({ baseURL: baseURL!, storageState, javaScriptEnabled: false })
  const page = await context.newPage()
  const unfold = async (title: string) => {
    const details = page.locator('details', { has: page.locator('summary', { hasText: title }) })
    await details.locator('summary').click()
    return details
  }
  await page.goto(`/dashboard/senders/${id}`)
  let asked = await unfold('Add an SSH key')
  await asked.getByLabel('Name').fill('Plain')
  await asked.getByLabel('Public key').fill('ssh-ed25519 AAAA')
  await asked.getByRole('button', { name: 'Add' }).click()
  const told = page.locator('details [id$="-error"]')
  await expect(told).toHaveText('Is damaged; paste the entire line again.')
  await expect(told).toBeVisible()
  asked = page.locator('details', { hasText: 'Add an SSH key' })
  await asked.getByLabel('Name').fill('Plain')
  await asked.getByLabel('Public key').fill(makeKeyPair().public)
  await asked.getByRole('button', { name: 'Add' }).click()
  await expect(rowOf(page, 'Plain')).toContainText('SHA256:')

  await api(demo, 'DELETE', `/senders/${id}`)
  await page.goto(`/dashboard/senders/${id}`)
  await expect(page.locator('summary', { hasText: 'Add an SSH key' })).toHaveCount(0)
  asked = await unfold('Remove Plain')
  await asked.getByRole('button', { name: 'Remove' }).click()
  await expect(rowOf(page, 'Plain')).toHaveCount(0)
  await context.close()
})
