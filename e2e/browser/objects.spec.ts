import type { DemoDocument } from '#lib/dashboard/demo/ensure-demo.ts'
import { expectAccessible } from '../../test/support/axe.ts'
import { tokenFor } from '../../test/support/begin-upload.ts'
import { api, expect, test } from '../../test/support/browser.ts'

type Made = { id: string }

async function makePipe(demo: DemoDocument, keys: { accessKeyId: string; secretAccessKey: string }) {
  const { name: bucket, endpoint, region } = demo.bucket
  const place = { provider: 'other', endpoint, region, bucket, forcePathStyle: true }
  const store = await api<Made>(demo, 'POST', '/data-stores', { ...place, name: 'For objects', ...keys })
  const pipe = { name: 'Downloads', dataStoreId: store.id, source: { http: true } }
  return (await api<Made>(demo, 'POST', '/pipes', pipe)).id
}

test('object settings are saved, tried on the bucket, and shown with a file', async ({
  owner: page,
  demo,
}) => {
  const pipeId = await makePipe(demo, demo.bucket.reader)
  await page.goto(`/dashboard/pipes/${pipeId}/objects`)
  await page.getByLabel('Cache-Control', { exact: false }).first().fill('max-age = 5')
  await page.getByLabel('Metadata').first().fill('Uploaded By: {sender}\nfine: yes')
  await page.getByRole('button', { name: 'Save' }).click()
  await expect(page.getByText('Must look like public, max-age=31536000, immutable.')).toBeVisible()
  await expect(page.getByText('Uploaded By must have a name of lower-case letters')).toBeVisible()

  await page.getByLabel('Cache-Control', { exact: false }).first().fill('public, max-age=600')
  await page.getByLabel('Content-Disposition').first().selectOption('attachment')
  await page.getByLabel('Metadata').first().fill('uploaded-by: {sender}\nfine: yes')
  await page.getByLabel('Tags').first().fill('kind: {ext}')
  await page.getByLabel('Storage class').first().fill('COLD')
  await page.getByLabel('Encryption').first().selectOption('SSE-KMS')
  await page.getByLabel('KMS key id or ARN').fill('alias/uploads')
  await page.getByRole('checkbox', { name: 'Tags' }).check()
  await page.getByRole('button', { name: 'Save' }).click()
  await expect(page.getByText('Saved, but uploads with these settings will be refused.')).toBeVisible()
  await expect(page.getByText(/400 InvalidStorageClass/)).toBeVisible()
  await expectAccessible(page, 'object settings that the bucket refuses')
  await page.getByLabel('Storage class').first().fill('STANDARD_IA')
  await page.getByRole('button', { name: 'Save' }).click()
  await expect(page.getByText('Saved, but uploads')).toHaveCount(0)
  await page.reload()
  await expect(page.getByLabel('Tags').first()).toHaveValue('kind: {ext}')
  await expect(page.getByRole('checkbox', { name: 'Tags' })).toBeChecked()

  const { token, uploadUrl } = await tokenFor(demo.baseUrl, demo.senderToken, pipeId)
  const headers = { Authorization: `Bearer ${token}` }
  const put = await fetch(`${uploadUrl}report.pdf`, { method: 'PUT', headers, body: 'x' })
  await page.goto(`/dashboard/files/${((await put.json()) as Made).id}`)
  await expect(page.getByText('attachment; filename="report.pdf"')).toBeVisible()
  await expect(page.getByText('SSE-KMS with alias/uploads')).toBeVisible()
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.getByRole('button', { name: "Copy the bucket's name" }).click()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(demo.bucket.name)
  await expect(page.getByRole('button', { name: 'Copy object key' })).toBeVisible()
  await page.setViewportSize({ width: 360, height: 800 })
  for (const path of [page.url(), `/dashboard/pipes/${pipeId}/objects`]) {
    await page.goto(path)
    await expectAccessible(page, `${path} on a phone`)
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360)
  }
})
