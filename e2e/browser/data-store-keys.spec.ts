import { systemClock } from '#lib/platform/kernel/clock.ts'
import { tokenFor, uploadEmpty } from '../../test/support/begin-upload.ts'
import { api, expect, test } from '../../test/support/browser.ts'
import { startGoogleCloud } from '../../test/support/google-cloud.ts'

test('failing keys do not replace working ones unless the user saves them anyway', async ({
  owner: page,
  demo,
}) => {
  const { name: bucket, endpoint, region, accessKeyId, secretAccessKey } = demo.bucket
  const fields = { name: 'Kept', provider: 'other', endpoint, region, bucket, forcePathStyle: true }
  const store = await api<{ id: string }>(demo, 'POST', '/data-stores', {
    ...fields,
    accessKeyId,
    secretAccessKey,
  })
  const kept = async () => {
    const { check } = await api<{ check: { ok: boolean } | null }>(
      demo,
      'POST',
      `/data-stores/${store.id}/check`,
    )
    return check?.ok
  }
  await page.setViewportSize({ width: 1280, height: 600 })
  await page.goto(`/dashboard/data-stores/${store.id}`)
  await page.getByLabel('Secret access key').fill('notthesecret')
  await page.getByRole('button', { name: 'Check and save' }).click()
  await expect(page.getByText('Not saved: uploads could not go to this bucket.')).toBeInViewport()
  await expect(page.getByText(/^Saved/)).toHaveCount(0)
  expect(await kept()).toBe(true)

  await page.getByRole('button', { name: 'Save anyway' }).click()
  await expect(page.getByText('Uploads still go to this bucket, but are likely to fail.')).toBeInViewport()
  expect(await kept()).toBe(false)

  // An upload that the bucket refuses is reported on every affected page, until the bucket accepts uploads again.
  const pipe = await api<{ id: string }>(demo, 'POST', '/pipes', {
    name: 'Into nothing',
    dataStoreId: store.id,
    source: { http: true },
  })
  const token = await tokenFor(demo.baseUrl, demo.senderToken, pipe.id)
  await uploadEmpty(token, 'rejected').catch(() => undefined)
  for (const path of ['', '/files', `/pipes/${pipe.id}`, '/data-stores']) {
    await page.goto(`/dashboard${path}`)
    await expect(page.getByText('Kept started rejecting uploads')).toBeVisible()
    await expect(page.getByRole('alert').getByText(/SignatureDoesNotMatch/)).toBeVisible()
  }
  await page.getByRole('link', { name: 'Check the bucket' }).click()

  await page.getByLabel('Secret access key').fill(secretAccessKey)
  await page.getByRole('button', { name: 'Check and save' }).click()
  await expect(page.getByText('Uploads can go to this bucket.')).toBeInViewport()
  expect(await kept()).toBe(true)
  await expect(page.getByText('started rejecting uploads')).toHaveCount(0)
})

test("a service account's key file takes the place of an HMAC key", async ({ owner: page, demo }) => {
  const { name: bucket, region, endpoint, accessKeyId, secretAccessKey } = demo.bucket
  const cloud = await startGoogleCloud(systemClock, {
    endpoint,
    region,
    key: { accessKeyId, secretAccessKey },
  })
  const fields = { name: 'Google', provider: 'gcs', endpoint: cloud.endpoint, bucket }
  const hmac = { accessKeyId: 'GOOG1EXAMPLE', secretAccessKey: 'hmac-secret' }
  const { id } = await api<{ id: string }>(demo, 'POST', '/data-stores', { ...fields, ...hmac })
  await page.goto(`/dashboard/data-stores/${id}`)
  await page.getByLabel('Credentials').selectOption('Service account key file')
  const upload = (text: string) =>
    page
      .getByLabel('Key file (JSON)')
      .setInputFiles({ name: 'sluice.json', mimeType: 'application/json', buffer: Buffer.from(text) })
  await upload('{}')
  await page.getByRole('button', { name: 'Check and save' }).click()
  await expect(page.getByText('has no valid type')).toBeVisible()
  await upload(cloud.keyFile)
  await page.getByRole('button', { name: 'Check and save' }).click()
  await expect(page.getByText('Uploads can go to this bucket.')).toBeInViewport()
  await page.reload()
  await expect(page.getByText('keep the current key of sluice@acme-media')).toBeVisible()
  expect(await page.content()).not.toContain('PRIVATE KEY')

  await page.goto('/dashboard/data-stores/new')
  await page.getByText('Google Cloud Storage').first().click()
  await page.getByLabel('Name').fill('Without a key')
  await page.getByLabel('Bucket').fill(bucket)
  await page.getByRole('button', { name: 'Check and save' }).click()
  await expect(page.getByLabel('Or its content')).toHaveAttribute('aria-invalid', 'true')

  // The key is deleted in Google Cloud.
  await page.goto(`/dashboard/data-stores/${id}`)
  cloud.keys.clear()
  await page.getByRole('button', { name: 'Check and save' }).click()
  await expect(page.getByText('Invalid grant: account not found').first()).toBeVisible()
  await cloud.close()
})
