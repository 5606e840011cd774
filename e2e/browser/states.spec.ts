import type { Route } from 'playwright/test'
import { makeRefusedPipe } from '../../test/support/addresses.ts'
import { expectAccessibleInLight } from '../../test/support/axe.ts'
import { api, expect, openPalette, test } from '../../test/support/browser.ts'

/** Refuses the creation of an upload, but lets its preflight through. */
const refuse = (route: Route) =>
  route.request().method() === 'POST'
    ? route.fulfill({ status: 403, json: { detail: 'Not today.' } })
    : route.continue()

/** Tests pages while something loads and after a failure; pages.spec.ts covers all other states. */
test('pages whose script has not loaded yet are accessible', { tag: '@long' }, async ({
  owner: page,
  demo,
}) => {
  await page.route('**/_next/static/**/*.js', (route) => route.abort())
  for (const path of [
    '/',
    '/docs',
    '/login',
    '/dashboard',
    '/dashboard/files',
    '/dashboard/webhooks',
    `/dashboard/pipes/${demo.pipeId}/try`,
  ]) {
    await page.goto(path)
    await expectAccessibleInLight(page, `${path} without its script`)
  }
})

test('loading states are accessible', { tag: '@long' }, async ({ owner: page }) => {
  await page.goto('/dashboard')
  await openPalette(page)
  await page.route('**/dashboard', () => {})
  await page.keyboard.type('nothing has this name')
  await expectAccessibleInLight(page, '⌘K while it searches', '[role=dialog]')
})

test('forms with errors are accessible', { tag: '@long' }, async ({ page, owner, demo }) => {
  await page.goto('/login')
  await page.getByLabel('Email').fill('nobody@example.com')
  await page.getByLabel('Password').fill('not the password')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await expect(page.getByRole('main').getByRole('alert')).toBeVisible()
  await expectAccessibleInLight(page, 'a refused sign-in')
  await page.goto('/sign-up')
  await page.getByLabel('Email').fill(demo.email)
  await page.getByLabel('Password').fill('password')
  await page.getByRole('button', { name: 'Create account' }).click()
  await expect(page.locator('[aria-invalid=true]')).toBeVisible()
  await expectAccessibleInLight(page, 'a refused account')
  await page.goto('/reset-password#token=gone')
  await expectAccessibleInLight(page, 'an expired link')

  const { name: bucket, endpoint, region, accessKeyId } = demo.bucket
  const fields = { provider: 'other', endpoint, region, bucket, forcePathStyle: true, accessKeyId }
  const keys = { name: 'Refusing', secretAccessKey: 'wrong' }
  const store = await api<{ id: string }>(demo, 'POST', '/data-stores', { ...fields, ...keys })
  await owner.goto(`/dashboard/data-stores/${store.id}`)
  await expectAccessibleInLight(owner, 'a Data Store that rejects uploads')
  const pipe = { name: 'Into nothing', dataStoreId: store.id, source: { http: true } }
  const { id } = await api<{ id: string }>(demo, 'POST', '/pipes', pipe)
  await owner.goto(`/dashboard/pipes/${id}/webhooks`)
  await owner.getByLabel('Address').fill('ftp://nowhere')
  await owner.getByRole('button', { name: 'Switch on' }).click()
  await expect(owner.getByText(/Is not allowed/)).toBeVisible()
  await expectAccessibleInLight(owner, 'a refused webhook')
  await owner.goto('/dashboard/pipes')
  await expect(owner.getByRole('row').filter({ hasText: 'Into nothing' })).toContainText('bucket not ready')
  await api(demo, 'DELETE', `/pipes/${id}`)
  await owner.goto('/dashboard/files?senderId=gone')
  await expectAccessibleInLight(owner, 'a list with an invalid filter')
  await owner.goto(`/dashboard/webhooks?pipeId=${await makeRefusedPipe(demo)}`)
  await expect(owner.getByText(/^\d+ retrying/)).toBeVisible()
  await expectAccessibleInLight(owner, 'webhooks that are retried')
})

test('uploads on the landing page are accessible while in progress, while waiting and after a refusal', {
  tag: '@long',
}, async ({ page, context }) => {
  await page.goto('/')
  const demo = page.getByRole('region', { name: 'Live demo' })
  await demo.getByRole('button', { name: /of random data/ }).click()
  await expect(demo.getByText('on its way')).toBeVisible()
  await expectAccessibleInLight(page, 'the demo in progress')
  await context.setOffline(true)
  await expect(demo.getByText('Waiting for the network. Retrying automatically.').last()).toBeVisible()
  await expectAccessibleInLight(page, 'the demo without a network')
  await context.setOffline(false)
  // The next click would resume an unfinished upload instead of creating one.
  await expect(demo.getByText('in the bucket')).toBeVisible({ timeout: 30_000 })
  await page.route('**/pipes/*/files/', refuse)
  await page.reload()
  await demo.getByRole('button', { name: /of random data/ }).click()
  await expect(demo.getByText('refused', { exact: true })).toBeVisible()
  await expectAccessibleInLight(page, 'the demo refused')
})

test('the Try it page is accessible after an upload was refused', { tag: '@long' }, async ({
  owner: page,
  demo,
}) => {
  await page.route('**/pipes/*/files/', refuse)
  await page.goto(`/dashboard/pipes/${demo.pipeId}/try`)
  const buffer = Buffer.from('refused')
  await page.getByLabel('Choose files').setInputFiles({ name: 'refused.txt', mimeType: 'text/plain', buffer })
  await expect(page.getByRole('button', { name: 'Retry refused.txt' })).toBeVisible()
  await expectAccessibleInLight(page, 'Try it refused')
})
