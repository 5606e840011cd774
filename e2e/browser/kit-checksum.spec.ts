import type { Page } from 'playwright/test'
import { api, expect, test } from '../../test/support/browser.ts'
import { file, MIB, openCustomer } from '../../test/support/kit-site.ts'

/**
 * Tests the checksums that @sluice/react declares, so that no byte can change unnoticed between the disk and the
 * bucket.
 */

type Stored = {
  id: string
  filename: string
  status: string
  failureReason: string | null
  checksum: string | null
  declaredChecksum: string | null
}

/** While enabled, changes the first byte of each body sent, like a bad connection. */
function flipBytes(): void {
  const send = XMLHttpRequest.prototype.send
  XMLHttpRequest.prototype.send = function (body) {
    const isFlipped = body instanceof Blob && localStorage.getItem('flip') === 'yes'
    send.call(this, isFlipped ? new Blob(['X', body.slice(1)]) : body)
  }
}
const flip = (page: Page, told: 'yes' | 'no') =>
  page.evaluate((value) => localStorage.setItem('flip', value), told)

test('a file is verified end to end across a reload, and fails if a byte changes before or after the reload', {
  tag: '@long',
}, async ({ demo, owner, page }) => {
  const element = `<UploadDropzone transport={{ chunkBytes: ${MIB} }} />`
  await using customer = await openCustomer(demo, element)
  const stored = async (name: string) => {
    const { data } = await api<{ data: Stored[] }>(demo, 'GET', `/files?pipeId=${customer.pipeId}`)
    return data.find(({ filename }) => filename === name)!
  }
  const row = (name: string) => page.getByRole('listitem').filter({ hasText: name })
  let passing = Number.POSITIVE_INFINITY
  await page.route(`${customer.uploadUrl}**`, async (route) => {
    // Leaves the request pending until the reload aborts it.
    if (route.request().method() === 'PATCH' && passing-- <= 0) return
    await route.continue()
  })
  await page.addInitScript(flipBytes)
  await page.goto(customer.url)

  for (const [name, before, after] of [
    ['good.txt', 'no', 'no'],
    ['before.txt', 'yes', 'no'],
    ['after.txt', 'no', 'yes'],
  ] as const) {
    passing = 1
    await flip(page, before)
    await page.getByLabel('Choose files').setInputFiles(file(name, 3 * MIB))
    await expect(row(name)).toContainText('33%')
    await flip(page, after)
    passing = Number.POSITIVE_INFINITY
    await page.reload()
    if (name === 'good.txt') {
      await expect(row(name)).toContainText('Uploaded')
      const { status, checksum, declaredChecksum } = await stored(name)
      expect([status, declaredChecksum]).toEqual(['transferred', checksum])
    } else {
      await expect(row(name)).toContainText('Failed: The file was damaged on its way.')
      expect(await stored(name)).toMatchObject({ status: 'failed', failureReason: 'checksum_mismatch' })
      await page.getByRole('button', { name: `Remove ${name}` }).click()
    }
  }
  await owner.goto(`/dashboard/files/${(await stored('good.txt')).id}`)
  await expect(owner.getByText('Verified end to end')).toBeVisible()
})
