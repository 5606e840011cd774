import { beginUpload, tokenFor, uploadEmpty } from '../../test/support/begin-upload.ts'
import { api, expect, test } from '../../test/support/browser.ts'

test('the Overview shows figures, and each one links to the items it counts', async ({
  owner: page,
  demo,
}) => {
  const fields = { name: 'Counted', dataStoreId: demo.dataStoreId, source: { http: true } }
  const pipe = await api<{ id: string }>(demo, 'POST', '/pipes', fields)
  const { url } = await api<{ url: string }>(demo, 'GET', `/pipes/${demo.pipeId}/webhook`)
  await api(demo, 'PUT', `/pipes/${pipe.id}/webhook`, { url, enabled: true, statuses: [] })
  const token = await tokenFor(demo.baseUrl, demo.senderToken, pipe.id)
  await uploadEmpty(token, 'counted-1.bin')
  await uploadEmpty(token, 'counted-2.bin')
  await beginUpload(token, 'still-open.bin')

  const tile = (name: string) => page.getByRole('region', { name: 'Figures' }).getByRole('link', { name })
  await page.goto(`/dashboard?pipeId=${pipe.id}`)
  // The figures are updated a moment later, in the background.
  await expect(async () => {
    await page.reload()
    await expect(tile('Transferred files 2')).toBeVisible({ timeout: 1000 })
    await expect(tile('Webhooks delivered 2')).toBeVisible({ timeout: 1000 })
  }).toPass()
  await expect(tile('Success rate 100%')).toBeVisible()
  await expect(tile('Bytes of these files')).toHaveAttribute('href', /order=largest/)
  await expect(tile('Open uploads 1')).toBeVisible()
  const files = page.getByRole('table', { name: 'Files', exact: true })
  await expect(files.getByRole('columnheader').allTextContents()).resolves.toEqual([
    'Time',
    'transferred',
    'failed or expired',
  ])
  await expect(files.getByRole('row').last().getByRole('cell').first()).toHaveText('2')

  await page.getByRole('link', { name: '90 days' }).click()
  await expect(page).toHaveURL(/range=90d/)
  await expect(page).toHaveURL(new RegExp(pipe.id))
  await expect(files.getByRole('row')).toHaveCount(91)
  await tile('Transferred files 2').click()
  await expect(page).toHaveURL(/status=transferred/)
  await expect(page.getByRole('link', { name: /^counted-/ })).toHaveCount(2)
  await page.goBack()
  await tile('Open uploads 1').click()
  await expect(page.getByRole('link', { name: 'still-open.bin' })).toBeVisible()
  await expect(page.getByLabel('Status')).toHaveValue('uploading')
  await page.goto('/dashboard')
  await page.getByLabel('Pipe', { exact: true }).selectOption('Counted')
  await expect(tile('Transferred files 2')).toBeVisible()
})
