import { expectAccessible } from '../../test/support/axe.ts'
import { api, expect, test } from '../../test/support/browser.ts'
import { openSource, sendFile } from '../../test/support/import-site.ts'
import { isCut } from '../../test/support/is-cut.ts'

type Made = { id: string }

test('pasted URLs become files that show their source', async ({ owner: page, demo }) => {
  const bytes = Buffer.alloc(2_000_000, 'film')
  const source = await openSource((req, res) => {
    if (req.url?.startsWith('/missing')) res.writeHead(404).end()
    else if (req.url?.startsWith('/busy')) res.writeHead(503).end()
    else sendFile(req, res, { bytes, etag: '"one"' })
  })
  const fields = { name: 'Imports', dataStoreId: demo.dataStoreId, source: { http: true } }
  const { id } = await api<Made>(demo, 'POST', '/pipes', fields)

  await page.goto(`/dashboard/pipes/${id}/import`)
  await expect(page.getByText('The source is off')).toBeVisible()
  await page.getByRole('link', { name: 'Open the sources' }).click()
  await page.getByRole('switch', { name: 'URL' }).click()
  await page.getByRole('link', { name: 'paste URLs here' }).click()
  await page.getByRole('button', { name: 'Import' }).click()
  await expect(page.getByText('Must have at least one URL.')).toBeVisible()
  await page.getByLabel('URLs').fill('ftp://example.com/film.mp4')
  await page.getByRole('button', { name: 'Import' }).click()
  await expect(page.getByText('“ftp://example.com/film.mp4” must be an address')).toBeVisible()
  await expectAccessible(page, 'Import with an error')

  await page
    .getByLabel('URLs')
    .fill(`${source.url}/one.mp4?signature=secret\n${source.url}/missing.mp4\n${source.url}/busy.mp4`)
  await page.getByRole('button', { name: 'Import' }).click()
  await expect(page).toHaveURL(/\/files$/)
  const row = (name: string) => page.getByRole('row').filter({ hasText: name })
  await expect(row('one.mp4')).toContainText('transferred')
  await expect(row('one.mp4')).toContainText('URL import')
  await expect(row('missing.mp4')).toContainText('failed')
  await expect(row('busy.mp4')).toContainText('retrying')
  await expect(row('busy.mp4')).toContainText('The source responded with status 503.')
  for (const width of [1024, 390]) {
    await page.setViewportSize({ width, height: 768 })
    expect(await isCut(row('busy.mp4').getByText('The source responded with status 503.'))).toBe(false)
  }
  await row('one.mp4').getByRole('link', { name: 'one.mp4' }).click()
  await expect(page.getByText(`${source.url}/one.mp4`, { exact: true })).toBeVisible()
  await expect(page.getByText('signature=secret')).toHaveCount(0)
  await page.setViewportSize({ width: 360, height: 800 })
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360)
  await expectAccessible(page, 'an imported file')
  await source.close()
})
