import { beginUpload, tokenFor } from '../../test/support/begin-upload.ts'
import { api, expect, test } from '../../test/support/browser.ts'

test("a Pipe's danger zone explains the consequences and requires the name", async ({
  owner: page,
  demo,
}) => {
  const pipe = await api<{ id: string }>(demo, 'POST', '/pipes', {
    name: 'Doomed',
    dataStoreId: demo.dataStoreId,
    source: { http: true },
  })
  const token = await tokenFor(demo.baseUrl, demo.senderToken, pipe.id)
  for (const name of ['a', 'b', 'c']) await beginUpload(token, name)
  await page.goto(`/dashboard/pipes/${pipe.id}/settings`)
  await page.getByRole('button', { name: 'Delete Pipe…' }).click()
  await expect(page.getByText('3 uploads in progress will be canceled.')).toBeVisible()
  await page.getByLabel(/to confirm/).fill('doomed')
  await expect(page.getByRole('button', { name: 'Delete this Pipe' })).toBeDisabled()
  await page.getByLabel(/to confirm/).fill('Doomed')
  await page.getByRole('button', { name: 'Delete this Pipe' }).click()
  await expect(page).toHaveURL(/\/dashboard\/pipes$/)
  await expect(page.getByRole('link', { name: 'Doomed' })).toHaveCount(0)
  await page.goto(`/dashboard/data-stores/${demo.dataStoreId}`)
  await page.getByRole('button', { name: 'Delete…' }).click()
  await page.getByLabel(/to confirm/).fill('Bucket on this server')
  await page.getByRole('button', { name: 'Delete this Data Store' }).click()
  await expect(page.getByText(/Used by “/)).toBeVisible()
})
