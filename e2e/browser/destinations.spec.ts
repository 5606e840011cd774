import type { Page } from 'playwright/test'
import type { DemoDocument } from '#lib/dashboard/demo/ensure-demo.ts'
import { expectAccessible } from '../../test/support/axe.ts'
import { tokenFor, uploadEmpty } from '../../test/support/begin-upload.ts'
import { api, expect, test } from '../../test/support/browser.ts'

type Made = { id: string }

/** Data Stores on the demo bucket, and a Pipe to the first of them. */
async function makePipe(demo: DemoDocument, ...names: string[]) {
  const { name: bucket, endpoint, region, reader } = demo.bucket
  const place = { provider: 'other', endpoint, region, bucket, forcePathStyle: true }
  const stores: Made[] = []
  for (const name of names) {
    const fields = { ...place, name, prefix: `${name}/`, ...reader }
    stores.push(await api<Made>(demo, 'POST', '/data-stores', fields))
  }
  const pipe = { name: names.join(' and '), dataStoreId: stores[0]!.id, source: { http: true } }
  return { pipeId: (await api<Made>(demo, 'POST', '/pipes', pipe)).id, stores }
}

const listOf = (page: Page) => page.getByRole('list', { name: 'Destinations' }).getByRole('listitem')
const namesIn = (page: Page) => listOf(page).getByRole('link').allTextContents()

test('destinations are added, reordered with the keyboard, made best effort and removed', async ({
  owner: page,
  demo,
}) => {
  const { pipeId } = await makePipe(demo, 'first', 'second', 'third')
  await page.goto(`/dashboard/pipes/${pipeId}/destinations`)
  await expect(page.getByText('A 1 GB file needs 122 requests to the bucket')).toBeVisible()
  await page.getByText('Add a destination').click()
  for (const name of ['second', 'third']) {
    await page.getByLabel('Data Store').selectOption({ label: name })
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await expect(listOf(page).getByRole('link', { name })).toBeVisible()
  }
  await expect(page.getByText('122 requests to each destination, 366 in all')).toBeVisible()
  await expect(listOf(page).nth(1)).toContainText('best effort')
  await expectAccessible(page, 'a Pipe with three destinations')

  // The only required destination can be neither removed nor made best effort.
  await expect(page.getByRole('button', { name: 'Remove first' })).toHaveCount(0)
  await page.getByRole('button', { name: /^Make required.*second/ }).click()
  await expect(listOf(page).nth(1)).toContainText('required')
  await page.getByRole('button', { name: 'Move first down' }).focus()
  await page.keyboard.press('Enter')
  await expect.poll(() => namesIn(page)).toEqual(['second', 'first', 'third'])
  await expect(page.getByRole('button', { name: 'Move first down' })).toBeFocused()
  await page.keyboard.press('Enter')
  await expect.poll(() => namesIn(page)).toEqual(['second', 'third', 'first'])
  await expect(page.getByRole('button', { name: 'Move first up' })).toBeFocused()
  await page.getByRole('button', { name: 'Remove first' }).click()
  await expect.poll(() => namesIn(page)).toEqual(['second', 'third'])
  type Listed = { destinations: { required: boolean }[] }
  const { destinations } = await api<Listed>(demo, 'GET', `/pipes/${pipeId}`)
  expect(destinations.map(({ required }) => required)).toEqual([true, false])

  await page.setViewportSize({ width: 360, height: 800 })
  await expectAccessible(page, 'a Pipe with two destinations on a phone')
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360)
})

test('destinations are changed without JavaScript', { tag: '@long' }, async ({ browser, baseURL, demo }) => {
  const { pipeId } = await makePipe(demo, 'one', 'two')
  const storageState = process.env.SLUICE_STATE!
  const context = await browser.newContext({ baseURL: baseURL!, storageState, javaScriptEnabled: false })
  const page = await context.newPage()
  await page.goto(`/dashboard/pipes/${pipeId}/destinations`)
  await page.getByText('Add a destination').click()
  await page.getByLabel('Data Store').selectOption({ label: 'two' })
  await page.getByLabel('Required').check()
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await expect.poll(() => namesIn(page)).toEqual(['one', 'two'])
  await page.getByRole('button', { name: 'Move two up' }).click()
  await expect.poll(() => namesIn(page)).toEqual(['two', 'one'])
  await page.getByRole('button', { name: /^Make best effort.*one/ }).click()
  await expect(listOf(page).nth(1)).toContainText('best effort')
  await page.getByRole('button', { name: 'Remove one' }).click()
  await expect.poll(() => namesIn(page)).toEqual(['two'])
  await context.close()
})

test('the file page shows why a bucket is missing the object, and a button repairs it', {
  tag: '@long',
}, async ({ owner: page, demo }) => {
  test.setTimeout(120_000)
  const { pipeId, stores } = await makePipe(demo, 'whole', 'lacking')
  const [whole, lacking] = stores
  const destinations = [{ dataStoreId: whole!.id }, { dataStoreId: lacking!.id, required: false }]
  await api(demo, 'PATCH', `/pipes/${pipeId}`, { destinations, object: { cacheControl: 'no-cache' } })
  await api(demo, 'PATCH', `/data-stores/${lacking!.id}`, { storageClass: 'STANDARD_IA' })
  const keys = ({ id }: Made, secretAccessKey: string) =>
    api(demo, 'PATCH', `/data-stores/${id}`, { ...demo.bucket.reader, secretAccessKey })
  await keys(lacking!, 'wrong')
  await uploadEmpty(await tokenFor(demo.baseUrl, demo.senderToken, pipeId), 'copied.bin')
  await page.goto('/dashboard')
  // Other tests may leave more than the Overview shows at once.
  await page.locator('details').evaluateAll((all) => {
    for (const one of all) one.setAttribute('open', '')
  })
  const missing = page.getByRole('list', { name: 'Needs attention' }).getByRole('listitem')
  await expect(missing.filter({ hasText: '1 file missing from lacking' })).toContainText(
    'The bucket rejected it.',
  )
  await expectAccessible(page, 'the Overview with missing copies')
  await page.getByRole('link', { name: 'Show files: 1 file missing from lacking' }).click()
  await expect(page).toHaveURL(/missingAt=/)
  await page.getByRole('link', { name: 'copied.bin' }).click()
  await expect(page.getByText('partially transferred').first()).toBeVisible()
  await expect(page.getByText('The bucket rejected it.', { exact: true })).toBeVisible()
  await expect(page.getByText('A destination was abandoned')).toBeVisible()
  const settingsIn = (name: string) => page.getByRole('region', { name: `Object settings in ${name}` })
  await expect(settingsIn('whole')).toContainText('no-cache')
  await expect(settingsIn('lacking')).toHaveCount(0)
  await expectAccessible(page, 'a file missing from one bucket')
  await page.setViewportSize({ width: 360, height: 800 })
  await expectAccessible(page, 'a file missing from one bucket, on a phone')
  // The next automatic attempt is half a minute later.
  await expect(page.getByText('A repair failed')).toHaveCount(2, { timeout: 20_000 })
  await keys(whole!, 'wrong')
  await page.reload()
  await expect(page.getByText('no destination that has the object can be read')).toBeVisible()
  await keys(whole!, demo.bucket.reader.secretAccessKey)
  await page.reload()
  await keys(lacking!, demo.bucket.reader.secretAccessKey)
  await page.getByRole('button', { name: /^Repair now.*lacking/ }).click()
  await expect(page.getByText('partially transferred')).toHaveCount(0)
  await expect(page.getByText('Copied to a destination that was missing it')).toBeVisible()
  await expect(settingsIn('lacking')).toContainText('Storage classSTANDARD_IA')
  await expect(settingsIn('whole')).not.toContainText('Storage class')
  await expectAccessible(page, 'a file whose destinations got different settings')
  await expect(page.getByRole('button', { name: /^Repair now.*lacking/ })).toHaveCount(0)
  await page.goto('/dashboard')
  await expect(page.getByText('missing from lacking')).toHaveCount(0)
})
