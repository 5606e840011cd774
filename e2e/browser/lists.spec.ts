import { readFileSync } from 'node:fs'
import type { Page } from 'playwright/test'
import type { DemoDocument } from '#lib/dashboard/demo/ensure-demo.ts'
import { makeRefusedPipe } from '../../test/support/addresses.ts'
import { beginUpload, tokenFor, uploadEmpty } from '../../test/support/begin-upload.ts'
import { api, expect, test } from '../../test/support/browser.ts'
import { isCut } from '../../test/support/is-cut.ts'

async function newPipe(demo: DemoDocument, name: string) {
  const fields = { name, dataStoreId: demo.dataStoreId, source: { http: true } }
  const { id } = await api<{ id: string }>(demo, 'POST', '/pipes', fields)
  return { id, token: await tokenFor(demo.baseUrl, demo.senderToken, id) }
}

const names = (page: Page) => page.getByRole('table').locator('.row-link').allTextContents()

async function download(page: Page, link: string): Promise<string> {
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: link }).click(),
  ])
  return readFileSync(await file.path(), 'utf8')
}

test('filtered files are paged, sorted, counted and exported', async ({ owner: page, demo }) => {
  const { id, token } = await newPipe(demo, 'Listed')
  const all = Array.from({ length: 53 }, (_, n) => `listed-${String(n).padStart(2, '0')}.bin`)
  for (const name of all) await uploadEmpty(token, name)
  await page.goto(`/dashboard/files?pipeId=${id}`)
  await expect(page.getByText('53 files, 0 B')).toBeVisible()
  expect(await names(page)).toEqual(all.toReversed().slice(0, 50))
  await page.getByRole('link', { name: 'Older' }).click()
  await expect.poll(() => names(page)).toEqual(all.toReversed().slice(50))
  await page.getByRole('link', { name: 'Newer' }).click()
  await expect.poll(() => names(page)).toEqual(all.toReversed().slice(0, 50))

  await page.getByRole('link', { name: 'Created' }).click()
  await expect(page.getByRole('columnheader', { name: 'Created' })).toHaveAttribute('aria-sort', 'ascending')
  await expect.poll(() => names(page)).toEqual(all.slice(0, 50))
  await page.getByRole('link', { name: 'Size' }).click()
  await expect(page).toHaveURL(/order=largest/)
  await expect(page.getByRole('columnheader', { name: 'Size' })).toHaveAttribute('aria-sort', 'descending')

  await page.getByLabel('Name, subject or id').fill('listed-4')
  await expect(page.getByText('10 files, 0 B')).toBeVisible()
  const csv = (await download(page, 'Export as CSV')).trim().split('\r\n')
  expect(csv[0]).toMatch(/^id,filename,filetype,status,/)
  expect(csv.slice(1).map((line) => line.split(',')[1])).toEqual(all.slice(40, 50).toReversed())
  const json = JSON.parse(await download(page, 'Export as JSON')) as { filename: string }[]
  expect(json.map(({ filename }) => filename)).toEqual(all.slice(40, 50).toReversed())
  await page.getByLabel('Add a filter').selectOption('Dates')
  await page.getByLabel('to', { exact: true }).fill('2020-01-01')
  await expect(page.getByText('Nothing matches these filters')).toBeVisible()
})

test('several files are canceled, or erased and restored', async ({ owner: page, demo }) => {
  const { id, token } = await newPipe(demo, 'Selected')
  await beginUpload(token, 'open-1.bin')
  await beginUpload(token, 'open-2.bin')
  await uploadEmpty(token, 'done.bin')
  await page.goto(`/dashboard/files?pipeId=${id}`)
  await page.getByLabel('Select all rows on this page').check()
  const bar = page.getByRole('region', { name: 'Selection' })
  await expect(bar.getByText('3 selected')).toBeVisible()
  await bar.getByRole('button', { name: 'Cancel uploads…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Cancel 2 uploads' })
  await expect(dialog.getByText('This cannot be undone.')).toBeVisible()
  await expect(dialog.getByText('1 file that has already ended will not change.')).toBeVisible()
  await dialog.getByRole('button', { name: 'Cancel them' }).click()
  await expect(page.getByText('2 uploads canceled.')).toBeVisible()
  await expect(page.getByRole('table').getByText('canceled')).toHaveCount(2)

  await page.getByLabel('Select done.bin').check()
  await page.getByLabel('Select open-1.bin').check()
  await bar.getByRole('button', { name: 'Erase records…' }).click()
  await page.getByRole('button', { name: 'Erase them' }).click()
  await expect.poll(() => names(page)).toEqual(['open-2.bin'])
  await page.getByRole('button', { name: 'Undo' }).click()
  await expect(page.getByText('2 records restored.')).toBeVisible()
  await expect.poll(() => names(page)).toEqual(['done.bin', 'open-2.bin', 'open-1.bin'])
})

test("a row's id can be copied, and the parts of a filter or a row stay on one line", async ({
  owner: page,
  demo,
}) => {
  const { id: pipeId, token } = await newPipe(demo, 'Copied')
  await uploadEmpty(token, 'copied.bin')
  const { data } = await api<{ data: { id: string }[] }>(demo, 'GET', `/files?pipeId=${pipeId}`)
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  const top = async (named: ReturnType<Page['getByLabel']>) => (await named.boundingBox())!.y
  await page.setViewportSize({ width: 1280, height: 900 })
  for (const path of ['files', 'webhooks']) {
    await page.goto(`/dashboard/${path}`)
    await page.getByLabel('Add a filter').selectOption('Dates')
    await expect(page.getByLabel('From', { exact: true })).toBeFocused()
    expect(await top(page.getByLabel('to', { exact: true }))).toBe(
      await top(page.getByLabel('From', { exact: true })),
    )
  }
  await page.goto(`/dashboard/files?pipeId=${pipeId}`)
  await page.getByRole('row', { name: 'copied.bin' }).hover()
  await page.getByRole('button', { name: 'Copy the id of copied.bin' }).click()
  await expect(page.getByText('Copied the id of copied.bin')).toBeAttached()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(data[0]!.id)
  await page.setViewportSize({ width: 390, height: 844 })
  const box = (await page.getByLabel('Select copied.bin').boundingBox())!
  const name = (await page.getByRole('link', { name: 'copied.bin' }).boundingBox())!
  expect(Math.abs(box.y + box.height / 2 - (name.y + name.height / 2))).toBeLessThan(6)
  expect(box.x + box.width).toBeLessThanOrEqual(name.x)
})

test('several webhooks are resent', async ({ owner: page, demo }) => {
  const id = await makeRefusedPipe(demo)
  await page.goto(`/dashboard/webhooks?pipeId=${id}`)
  await page.getByLabel('Select refused').check()
  await page.getByRole('button', { name: 'Resend…' }).click()
  await page.getByRole('button', { name: 'Resend them' }).click()
  await expect(page.getByText('1 event sent again.')).toBeVisible()
  const csv = await download(page, 'Export as CSV')
  expect(csv.split('\r\n')).toHaveLength(3)
})

test('on a phone, a row without actions has no empty line in their place', async ({ owner: page }) => {
  await page.setViewportSize({ width: 360, height: 800 })
  await page.goto('/dashboard/settings/sessions')
  const row = page.getByRole('row').filter({ hasText: 'this session' })
  await expect(row.locator('td:visible').last()).toHaveAttribute('data-label', 'Last seen')
})

test('on a phone, an added filter fits the page with its button', async ({ owner: page, demo }) => {
  const { id } = await newPipe(demo, 'A Pipe with a name that is wider than its filter')
  await page.setViewportSize({ width: 390, height: 844 })
  await page.goto(`/dashboard/files?pipeId=${id}`)
  await expect(page.getByRole('button', { name: 'Remove the filter Pipe' })).toBeVisible()
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
})

test('at 1024 pixels and on a phone, file names of usual length are not cut', async ({
  owner: page,
  demo,
}) => {
  const { id, token } = await newPipe(demo, 'Cut names')
  await uploadEmpty(token, 'interview-2026-03-04.mp4')
  const name = page.getByRole('link', { name: 'interview-2026-03-04.mp4' })
  for (const width of [1024, 390]) {
    await page.setViewportSize({ width, height: 768 })
    for (const path of [`files?pipeId=${id}`, `pipes/${id}`]) {
      await page.goto(`/dashboard/${path}`)
      expect(await isCut(name), `${path} at ${width} pixels`).toBe(false)
    }
    if (width > 390) await expect(page.getByRole('button', { name: 'Find Ctrl K' })).toBeVisible()
  }
})

test('at 1024 pixels, webhooks show the path of their receiver', async ({ owner: page, demo }) => {
  const { id, token } = await newPipe(demo, 'Told by path')
  const url = `${demo.baseUrl}/webhooks/orders`
  await api(demo, 'PUT', `/pipes/${id}/webhook`, { url, enabled: true, statuses: [] })
  await uploadEmpty(token, 'interview-2026-03-04.mp4')
  await page.setViewportSize({ width: 1024, height: 768 })
  await page.goto(`/dashboard/webhooks?pipeId=${id}`)
  const path = page.getByRole('table').getByText('/webhooks/orders')
  await expect(path).toBeVisible()
  // The status of the delivery changes with its attempts, and with it the room for the path.
  await expect.poll(() => isCut(path)).toBe(false)
  await expect.poll(() => isCut(page.getByRole('link', { name: 'interview-2026-03-04.mp4' }))).toBe(false)
})

test('on a phone, a Sender has two lines', async ({ owner: page, demo }) => {
  const { name } = await api<{ name: string }>(demo, 'POST', '/senders', { name: 'Two lines' })
  await page.setViewportSize({ width: 390, height: 844 })
  await page.goto('/dashboard/senders')
  const row = page.getByRole('row').filter({ hasText: name })
  await expect(row).toContainText('never used')
  expect((await row.boundingBox())!.height).toBeLessThan(80)
})

test('on a phone, a file with long names has two lines', async ({ owner: page, demo }) => {
  const { id, token } = await newPipe(demo, 'Customer documents from the shop')
  const name = 'interview-with-the-managing-director-2026-03-04-final-cut.mp4'
  await uploadEmpty(token, name)
  await beginUpload(token, name)
  await page.setViewportSize({ width: 390, height: 844 })
  for (const path of [`files?pipeId=${id}`, `pipes/${id}/files`]) {
    await page.goto(`/dashboard/${path}`)
    const rows = page.getByRole('row').filter({ hasText: name })
    await expect(rows).toHaveCount(2)
    for (const row of await rows.all()) {
      expect((await row.boundingBox())!.height).toBeLessThan(80)
      expect(await isCut(row.locator('time'))).toBe(false)
    }
  }
})

test('the whole detail of a change is in the audit log', async ({ owner: page, demo }) => {
  const { id } = await newPipe(demo, 'Changed in detail')
  const allowedTypes = ['image/png', 'image/jpeg', 'image/webp', 'video/mp4', 'audio/mpeg', 'application/pdf']
  const allowedOrigins = Array.from({ length: 9 }, (_, n) => `https://shop-${n}.example`)
  await api(demo, 'PATCH', `/pipes/${id}`, { allowedTypes, allowedOrigins })
  for (const width of [1440, 390]) {
    await page.setViewportSize({ width, height: 900 })
    await page.goto('/dashboard/settings/audit?action=pipe&search=Changed%20in%20detail')
    const row = page.getByRole('row').filter({ hasText: 'pipe.updated' })
    await expect(row.getByTitle(`Changed in detail\n${id}`)).toBeVisible()
    await expect(row.getByTitle('Demo key', { exact: true })).toBeVisible()
    await row.locator('summary').focus()
    await page.keyboard.press('Enter')
    const last = row.getByText('https://shop-8.example')
    await expect(last).toBeVisible()
    expect(await isCut(last), `at ${width} pixels`).toBe(false)
  }
})

test('the page ends where its content ends, not below a chart that only screen readers see as a table', async ({
  owner: page,
}) => {
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.goto('/dashboard/usage')
  const beyond = await page.getByRole('main').evaluate((main) => {
    const end = Math.max(main.getBoundingClientRect().bottom + window.scrollY, window.innerHeight)
    return document.documentElement.scrollHeight - end
  })
  // The height of a page is rounded to entire pixels.
  expect(beyond).toBeLessThan(1)
})
