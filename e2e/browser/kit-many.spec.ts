import type { Page } from 'playwright/test'
import { expectAccessible } from '../../test/support/axe.ts'
import { expect, test } from '../../test/support/browser.ts'
import { openCustomer } from '../../test/support/kit-site.ts'

/** Tests folders, drops and lists of many files. */

test('a dropped folder is uploaded with its subfolders, and unreadable files are listed as failed', async ({
  demo,
  page,
}) => {
  await using customer = await openCustomer(demo, '<UploadDropzone />')
  await page.goto(customer.url)
  await page.evaluate(() => {
    const unreadable = {
      isFile: true,
      fullPath: '/trip/locked.txt',
      file: (_: unknown, refuse: (error: Error) => void) => refuse(new DOMException('', 'NotReadableError')),
    }
    const fileEntry = (path: string) => ({
      isFile: true,
      fullPath: path,
      file: (take: (file: File) => void) => take(new File(['x'], path.split('/').at(-1)!)),
    })
    const folderEntry = (path: string, inside: object[]) => ({
      isFile: false,
      fullPath: path,
      createReader: () => ({ readEntries: (take: (some: object[]) => void) => take(inside.splice(0, 1)) }),
    })
    const entries = folderEntry('/trip', [
      unreadable,
      fileEntry('/trip/a.txt'),
      folderEntry('/trip/day 2', [fileEntry('/trip/day 2/b.txt'), fileEntry('/trip/day 2/c.txt')]),
    ])
    const drop = new Event('drop', { bubbles: true, cancelable: true })
    const dataTransfer = { items: [{ webkitGetAsEntry: () => entries }], files: [] }
    document.querySelector('.sluice-dropzone')!.dispatchEvent(Object.assign(drop, { dataTransfer }))
  })
  await expect(page.getByRole('listitem').filter({ hasText: 'Uploaded' })).toHaveCount(3)
  await expect(page.getByText('trip/day 2/c.txt')).toBeVisible()
  const locked = page.getByRole('listitem').filter({ hasText: 'trip/locked.txt' })
  await expect(locked).toContainText('Failed: The browser could not read this item.')
  await expect(locked.getByRole('button')).toHaveAccessibleName('Remove locked.txt from the list')
  await expect
    .poll(customer.statuses)
    .toEqual({ 'a.txt': 'transferred', 'b.txt': 'transferred', 'c.txt': 'transferred' })
})

test('dropping too many files shows an error', async ({ demo, page }) => {
  await using customer = await openCustomer(
    demo,
    '<UploadDropzone control={{ uploads: [], add() {}, addUnreadable() {} }} />',
  )
  await page.goto(customer.url)
  await page.evaluate(() => {
    const drop = new Event('drop', { bubbles: true, cancelable: true })
    const files = Array.from({ length: 10_001 }, (_, n) => new File([''], `${n}.txt`))
    const dataTransfer = { items: [], files }
    document.querySelector('.sluice-dropzone')!.dispatchEvent(Object.assign(drop, { dataTransfer }))
  })
  await expect(page.getByRole('alert')).toHaveText(/^Only the first 10,000 dropped files/)
})

const MANY = 10_000

/** Drops files that are never read, because the backend never issues a token for them. */
async function dropMany(page: Page, count: number): Promise<void> {
  await page.evaluate((count) => {
    const drop = new Event('drop', { bubbles: true, cancelable: true })
    const files = Array.from({ length: count }, (_, n) => new File([''], `${n + 1}.txt`))
    const dataTransfer = { items: [], files }
    document.querySelector('.sluice-dropzone')!.dispatchEvent(Object.assign(drop, { dataTransfer }))
  }, count)
}

test('with thousands of files, only the rows near the visible area are in the page', {
  tag: '@long',
}, async ({ demo, page }) => {
  await using customer = await openCustomer(demo, '<UploadDropzone />')
  customer.backend.post = () => new Promise(() => {})
  await page.goto(customer.url)
  await dropMany(page, MANY)
  const rows = page.getByRole('listitem')
  const names = page.locator('.sluice-name')
  await expect(rows.first()).toHaveAttribute('aria-setsize', String(MANY))
  await expect(names.first()).toContainText('1.txt')
  expect(await rows.count()).toBeLessThanOrEqual(150)
  await expectAccessible(page, 'the start of a long list')

  await page.evaluate(() => scrollTo(0, document.body.scrollHeight))
  const last = rows.filter({ hasText: `${MANY}.txt` })
  await expect(last).toBeInViewport()
  await expect(last).toHaveAttribute('aria-posinset', String(MANY))
  expect(await rows.count()).toBeLessThanOrEqual(150)
  await expectAccessible(page, 'the end of a long list')
  await last.getByRole('button', { name: 'Cancel' }).press('Enter')
  await expect(last).toHaveCount(0)
  await expect(rows.last()).toHaveAttribute('aria-setsize', String(MANY - 1))
})

test('the next visit reads stored uploads in small batches', async ({ demo, page }) => {
  await using customer = await openCustomer(demo, '<UploadDropzone />')
  customer.backend.post = () => new Promise(() => {})
  await page.goto(customer.url)
  await dropMany(page, 400)
  const kept = () =>
    page.evaluate(
      () =>
        new Promise<number>((resolve) => {
          const opening = indexedDB.open('sluice-uploads', 1)
          opening.onsuccess = () => {
            const asking = opening.result.transaction('uploads').objectStore('uploads').count()
            asking.onsuccess = () => resolve(asking.result)
          }
        }),
    )
  await expect.poll(kept).toBe(400)
  await page.addInitScript(() => {
    const counts = { open: 0, most: 0 }
    const find = IDBObjectStore.prototype.get
    IDBObjectStore.prototype.get = function (key) {
      const asking = find.call(this, key)
      counts.open += 1
      counts.most = Math.max(counts.most, counts.open)
      asking.addEventListener('success', () => (counts.open -= 1))
      return asking
    }
    Object.assign(window, { counts })
  })
  await page.reload()
  await expect(page.getByRole('listitem').first()).toHaveAttribute('aria-setsize', '400')
  const { most } = await page.evaluate(() => (window as unknown as { counts: { most: number } }).counts)
  expect(most).toBeGreaterThan(0)
  expect(most).toBeLessThanOrEqual(100)
})

test('the keyboard reaches every row of a long list, and focus stays when the list scrolls', async ({
  demo,
  page,
}) => {
  await using customer = await openCustomer(demo, '<UploadDropzone />')
  customer.backend.post = () => new Promise(() => {})
  await page.goto(customer.url)
  await dropMany(page, 300)
  const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label'))
  await page.getByRole('button', { name: 'Pause 1.txt' }).focus()
  for (let row = 1; row < 60; row++) {
    expect(await focused()).toBe(`Pause ${row}.txt`)
    await page.keyboard.press('Tab')
    expect(await focused()).toBe(`Cancel ${row}.txt`)
    await page.keyboard.press('Tab')
  }
  await page.evaluate(() => scrollTo(0, 0))
  await expect(page.getByText('1.txt', { exact: true })).toBeInViewport()
  await page.keyboard.press('Tab')
  expect(await focused()).toBe('Cancel 60.txt')
})

test('many changes at once are announced as the first one and a count', async ({ demo, page }) => {
  const code = `const uploads = Array.from({ length: 1200 }, (_, n) =>
  ({ id: String(n), name: n + '.txt', type: '', size: 1, sentBytes: 0, state: 'failed', reason: 'Too large' }))`
  const element = '<UploadDropzone control={{ uploads, add() {}, addUnreadable() {} }} />'
  await using customer = await openCustomer(demo, element, { code })
  await page.goto(customer.url)
  await expect(page.getByRole('status')).toHaveText(/^0.txt: Failed: Too large .* And 1,195 more\.$/)
})
