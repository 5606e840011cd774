import { days, systemClock } from '#lib/platform/kernel/clock.ts'
import { ACCOUNT_KEY, CONTAINER, makeSas } from '../../test/support/azure-signatures.ts'
import { startAzureStorage } from '../../test/support/azure-storage.ts'
import { tokenFor, uploadEmpty } from '../../test/support/begin-upload.ts'
import { api, expect, test } from '../../test/support/browser.ts'
import { startGoogleCloud } from '../../test/support/google-cloud.ts'
import { ROLE, startTrustingCloud } from '../../test/support/trusting-cloud.ts'

test('failing keys do not replace working ones unless the user saves them anyway', { tag: '@long' }, async ({
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
    name: 'Into a refusing bucket',
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

test("a service account's key file takes the place of an HMAC key", { tag: '@long' }, async ({
  owner: page,
  demo,
}) => {
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

test('a container in Azure is connected with a SAS, whose expiry is shown', { tag: '@long' }, async ({
  owner: page,
  demo,
}) => {
  const azure = await startAzureStorage(systemClock)
  const soon = new Date(systemClock.now() + days(10)).toISOString().slice(0, 10)
  await page.goto('/dashboard/data-stores/new')
  await page.getByText('Azure Blob Storage').first().click()
  await page.getByLabel('Name').fill('Azure')
  await page.getByLabel('Container').fill(CONTAINER)
  await page.getByLabel('Endpoint').fill(azure.endpoint)
  await page.getByRole('button', { name: 'Check and save' }).click()
  await expect(page.getByLabel('SAS token')).toHaveAttribute('aria-invalid', 'true')
  await page.getByLabel('SAS token').fill(makeSas({ permissions: 'r' }))
  await page.getByRole('button', { name: 'Check and save' }).click()
  await expect(page.getByText('has only the permissions r')).toBeVisible()
  const sasToken = makeSas({ expiresAt: soon })
  await page.getByLabel('SAS token').fill(`?${sasToken}`)
  await page.getByRole('button', { name: 'Check and save' }).click()
  await expect(page.getByText('Uploads can go to this bucket.')).toBeVisible()
  await expect(page.getByText('PutBlockList')).toBeVisible()
  await expect(page.getByText(/^The SAS expires/)).toBeVisible()
  expect(await page.content()).not.toContain(new URLSearchParams(sasToken).get('sig'))

  await page.getByLabel('Credentials').selectOption('Storage account key')
  await page.getByLabel('Key', { exact: true }).fill(ACCOUNT_KEY)
  await page.getByRole('button', { name: 'Check and save' }).click()
  await expect(page.getByText('Saved and checked.')).toBeVisible()
  await page.reload()
  await expect(page.getByText(/^The SAS expires/)).toHaveCount(0)
  await expect(page.getByLabel('Credentials')).toHaveValue('account')
  expect(azure.seen.some(({ operation }) => operation === 'DeleteBlob')).toBe(true)
  expect(JSON.stringify(await api(demo, 'GET', '/data-stores'))).not.toContain(ACCOUNT_KEY)
  await azure.close()
})

test('a Data Store without a secret works once the cloud trusts the server', async ({
  owner: page,
  demo,
}) => {
  const { name: bucket, region, endpoint, accessKeyId, secretAccessKey } = demo.bucket
  const behind = { endpoint, region, key: { accessKeyId, secretAccessKey } }
  const trust = { issuer: demo.baseUrl, subject: 'nobody' }
  const cloud = await startTrustingCloud(systemClock, trust, { bucket: behind })
  await page.goto('/dashboard/data-stores/new')
  await page.getByText('MinIO').first().click()
  await page.getByLabel('Name').fill('Without a secret')
  await page.getByLabel('Bucket').fill(bucket)
  await page.getByLabel('Region').fill(region)
  await page.getByLabel('Endpoint').fill(cloud.endpoint)
  await page.getByLabel('Credentials').selectOption('federation')
  await expect(page.getByText("Clouds on the internet cannot read this server's keys")).toBeVisible()
  await page.getByRole('button', { name: 'Check and save' }).click()
  await expect(page.getByLabel('Role (ARN)')).toHaveAttribute('aria-invalid', 'true')
  await page.getByLabel('Role (ARN)').fill(ROLE)
  await page.getByRole('button', { name: 'Check and save' }).click()
  await expect(
    page.getByText('Not authorized to perform sts:AssumeRoleWithWebIdentity').first(),
  ).toBeVisible()

  const { data } = await api<{ data: { name: string; identity: { subject: string } }[] }>(
    demo,
    'GET',
    '/data-stores',
  )
  const { subject } = data.find(({ name }) => name === 'Without a secret')!.identity
  await expect(page.getByText(subject)).toBeVisible()
  cloud.trust.subject = subject
  await page.getByRole('button', { name: 'Check now' }).click()
  await expect(page.getByText('Uploads can go to this bucket.')).toBeVisible()
  expect(await page.getByLabel('Credentials').inputValue()).toBe('federation')
  await cloud.close()
})
