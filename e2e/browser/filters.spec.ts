import { beginUpload, tokenFor } from '../../test/support/begin-upload.ts'
import { api, expect, openPalette, test } from '../../test/support/browser.ts'

test('log filters are kept in the address, and live updates can be paused', { tag: '@long' }, async ({
  owner: page,
  demo,
}) => {
  const pipe = await api<{ id: string }>(demo, 'POST', '/pipes', {
    name: 'Logged',
    dataStoreId: demo.dataStoreId,
    source: { http: true },
  })
  const { url } = await api<{ url: string }>(demo, 'GET', `/pipes/${demo.pipeId}/webhook`)
  await api(demo, 'PUT', `/pipes/${pipe.id}/webhook`, { url, enabled: true, statuses: [] })
  const send = () => api(demo, 'POST', `/pipes/${pipe.id}/webhook/test`)
  await page.goto(`/dashboard/webhooks?pipeId=${pipe.id}`)
  await expect(page.getByText('Nothing matches these filters')).toBeVisible()
  const shown = page.getByRole('table').getByText('test', { exact: true })
  await send()
  await expect(shown).toHaveCount(1)
  await page.getByRole('button', { name: 'Live' }).click()
  await expect(page.getByRole('button', { name: 'Paused' })).toHaveAttribute('aria-pressed', 'true')
  await send()
  // The paused page does not show the new event, even after another page does.
  const other = await page.context().newPage()
  await other.goto(`/dashboard/webhooks?pipeId=${pipe.id}`)
  await expect(other.getByRole('table').getByText('delivered')).toHaveCount(2)
  await other.close()
  await expect(shown).toHaveCount(1)
  await page.getByRole('button', { name: 'Paused' }).click()
  await expect(shown).toHaveCount(2)

  await page.getByLabel('State').selectOption('delivered')
  await expect(page).toHaveURL(/state=delivered/)
  await expect(shown).toHaveCount(2)
  await page.reload()
  await expect(page.getByLabel('State')).toHaveValue('delivered')
  await page.getByLabel('State').selectOption('failed')
  await expect(page.getByText('Nothing matches these filters')).toBeVisible()
  await page.goBack()
  await expect(shown).toHaveCount(2)
})

test('file filters are kept in the address, and ⌘K finds existing resources', { tag: '@long' }, async ({
  owner: page,
  demo,
}) => {
  const name = `needle-${Date.now()}.bin`
  await beginUpload(await tokenFor(demo.baseUrl, demo.senderToken, demo.pipeId), name)
  await page.goto('/dashboard/files')
  await page.getByLabel('Status').selectOption('uploading')
  await expect(page).toHaveURL(/status=uploading/)
  await page.getByLabel('Name, subject or id').fill('needle ')
  await expect(page).toHaveURL(/search=needle/)
  // Text typed after the address has changed is preserved.
  await page.getByLabel('Name, subject or id').pressSequentially('x')
  await expect(page.getByLabel('Name, subject or id')).toHaveValue('needle x')
  await expect(page).toHaveURL(/search=needle(\+|%20)x/)
  await page.getByLabel('Name, subject or id').fill('needle')
  await expect(page).toHaveURL(/search=needle(&|$)/)
  await page.reload()
  await expect(page.getByLabel('Status')).toHaveValue('uploading')
  await expect(page.getByRole('link', { name })).toBeVisible()
  await page.getByRole('button', { name: 'Save view' }).click()
  await page.getByLabel('Name of the view').fill('Needles')
  await page.keyboard.press('Enter')
  await page.getByLabel('Add a filter').selectOption('Protocol')
  await page.getByLabel('Protocol', { exact: true }).selectOption('TUS')
  await expect(page).toHaveURL(/protocol=tus/)
  await page.getByRole('button', { name: 'Remove the filter Protocol' }).click()
  await expect(page.getByLabel('Protocol', { exact: true })).toHaveCount(0)
  await page.getByRole('button', { name: 'Clear' }).click()
  await expect(page).toHaveURL(/files$/)
  await page.getByRole('link', { name: 'Needles' }).click()
  await expect(page.getByLabel('Status')).toHaveValue('uploading')
  await page.getByLabel('Status').selectOption('transferred')
  await expect(page.getByText('Nothing matches these filters')).toBeVisible()
  await page.goBack()
  await expect(page.getByRole('link', { name })).toBeVisible()

  await openPalette(page)
  const find = page.getByRole('dialog', { name: 'Find anything' })
  await find.getByRole('combobox').fill('Demo Pi')
  await expect(find.getByRole('option', { name: /Demo Pipe/ })).toBeVisible()
  await find.getByRole('combobox').fill('nginx')
  await expect(find.getByRole('option', { name: 'Self-hosting: Behind a proxy' })).toBeVisible()
  await find.getByRole('combobox').fill(name)
  await find.getByRole('option', { name }).click()
  await expect(page.getByRole('heading', { name })).toBeVisible()
  await page.getByRole('button', { name: 'Cancel upload…' }).click()
  await page.getByRole('button', { name: 'Cancel the upload' }).click()
  await expect(page.getByText('canceled').first()).toBeVisible()
})
