import { readFile } from 'node:fs/promises'
import { tokenFor } from '../../test/support/begin-upload.ts'
import { api, expect, openPalette, test } from '../../test/support/browser.ts'

type Made = { id: string; token: string }

test('a Sender is rotated with an overlap, then its temporary token and the Sender are revoked', async ({
  owner: page,
  demo,
}) => {
  const sender = await api<Made>(demo, 'POST', '/senders', { name: 'to rotate' })
  await tokenFor(demo.baseUrl, sender.token, demo.pipeId)
  await page.goto(`/dashboard/senders/${sender.id}`)
  await page.getByRole('button', { name: 'Rotate' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click()
  const fresh = (await page.getByText(/^sk_\w{20,}$/).textContent())!
  expect(fresh).not.toBe(sender.token)
  await page.getByLabel('I have saved it').check()
  await page.getByRole('button', { name: 'Done' }).click()
  await expect(page.getByText('still valid, expires')).toBeVisible()
  expect((await tokenFor(demo.baseUrl, sender.token, demo.pipeId)).token).toMatch(/^tmp_/)
  expect((await tokenFor(demo.baseUrl, fresh, demo.pipeId)).token).toMatch(/^tmp_/)

  await page.reload()
  await page.getByRole('row').nth(1).getByRole('button', { name: 'Revoke' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
  await expect(page.getByRole('row').nth(1).getByText('revoked')).toBeVisible()

  await page.getByRole('button', { name: 'Revoke…' }).click()
  const confirm = page.getByRole('button', { name: 'Revoke this Sender' })
  await expect(confirm).toBeDisabled()
  await page.getByLabel(/to confirm/).fill('to rotate')
  await confirm.click()
  await expect(
    page.getByRole('heading', { name: 'to rotate' }).locator('..').getByText('revoked'),
  ).toBeVisible()
  expect((await tokenFor(demo.baseUrl, fresh, demo.pipeId)).token).toBeUndefined()
})

test('a warning appears when a Sender token was exposed in a browser', async ({ owner: page, demo }) => {
  const sender = await api<Made>(demo, 'POST', '/senders', { name: 'leaked' })
  const headers = {
    Authorization: `Bearer ${sender.token}`,
    'Tus-Resumable': '1.0.0',
    'Upload-Length': '1',
    Origin: 'https://shop.example',
  }
  const response = await fetch(`${demo.uploadUrl}/pipes/${demo.pipeId}/files/`, { method: 'POST', headers })
  expect(response.status).toBe(401)
  await page.goto(`/dashboard/senders/${sender.id}`)
  await expect(page.getByText('This token was exposed in a browser')).toBeVisible()
  await expect(page.getByText('https://shop.example')).toBeVisible()

  // The warning disappears along with the old token, while the new token is still shown.
  await page.getByRole('button', { name: 'Rotate' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click()
  await expect(page.getByText(/^sk_\w{20,}$/)).toBeVisible()
  await page.getByLabel('I have saved it').check()
  await page.getByRole('button', { name: 'Done' }).click()
  await expect(page.getByText('This token was exposed in a browser')).toBeHidden()
})

test('⌘K opens the form for a new Sender every time, even on the Senders page', async ({ owner: page }) => {
  await page.goto('/dashboard/senders')
  for (let time = 0; time < 2; time += 1) {
    await openPalette(page)
    await page.getByRole('dialog', { name: 'Find anything' }).getByRole('combobox').fill('Create a Se')
    await page.getByRole('option', { name: 'Create a Sender' }).click()
    const dialog = page.getByRole('dialog', { name: 'Create a Sender' })
    await expect(dialog.getByLabel('Name')).toBeFocused()
    await page.keyboard.press('Escape')
    await expect(dialog).toHaveCount(0)
    await expect(page).toHaveURL(/\/dashboard\/senders$/)
  }
})

test('many devices are created in a limited group, and their credentials are downloaded once', async ({
  owner: page,
  demo,
}) => {
  await page.goto('/dashboard/senders/groups')
  await page.getByRole('button', { name: 'Create a group' }).click()
  await page.getByLabel('Name').fill('Cameras')
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.getByRole('link', { name: 'Cameras' }).click()
  await page.getByLabel('FTP and FTPS').check()
  await page.getByRole('button', { name: 'Save' }).click()
  await expect(page.getByText('Saved.')).toBeVisible()

  await page.goto('/dashboard/senders')
  await page.getByRole('button', { name: 'Create many' }).click()
  await page.getByLabel('Names').fill('name\nGate north\nGate south')
  await page.getByLabel('Group', { exact: true }).last().selectOption('Cameras')
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  const downloading = page.waitForEvent('download')
  await page.getByRole('link', { name: 'Download senders.csv' }).click()
  const csv = await readFile(await (await downloading).path(), 'utf8')
  expect(csv).toMatch(/^name,id,token\r\nGate north,[\w-]{36},sk_\w+\r\nGate south,[\w-]{36},sk_\w+\r\n$/)
  await page.getByLabel('I have saved it').check()
  await page.getByRole('button', { name: 'Done' }).click()
  await expect(page.getByText(/sk_\w{20,}/)).toHaveCount(0)

  const [, token] = /Gate north,[^,]+,(sk_\w+)/.exec(csv)!
  expect(await tokenFor(demo.baseUrl, token!, demo.pipeId)).toMatchObject({ code: 'forbidden' })
  await page.getByRole('link', { name: 'Gate north' }).click()
  await expect(page.getByText('Refused sign-ins')).toBeVisible()
})
