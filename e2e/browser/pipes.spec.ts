import { expectAccessible } from '../../test/support/axe.ts'
import { tokenFor, uploadEmpty } from '../../test/support/begin-upload.ts'
import { api, expect, test } from '../../test/support/browser.ts'
import { openSource } from '../../test/support/import-site.ts'

type Made = { id: string }

test('a Pipe opens on what to do next, then on its files, their failures and its surroundings', async ({
  owner: page,
  demo,
}) => {
  const fields = { dataStoreId: demo.dataStoreId, source: { http: true, url: true } }
  const [told, other] = await Promise.all(
    ['Told', 'Other'].map((name) => api<Made>(demo, 'POST', '/pipes', { ...fields, name })),
  )
  await page.goto(`/dashboard/pipes/${told!.id}`)
  await expect(page.getByText('No files yet')).toBeVisible()
  await expect(page.getByRole('link', { name: 'Try it' })).toHaveAttribute('href', /\/try$/)
  await expect(page.getByRole('link', { name: 'Embed it in your page' })).toHaveAttribute('href', /\/embed$/)
  await expect(page.getByRole('region', { name: 'Sources' })).toContainText('HTTP (TUS)on')
  await expect(page.getByRole('region', { name: 'Signed webhooks' })).toContainText('Set up a webhookoff')
  await expectAccessible(page, 'a new Pipe')

  const source = await openSource((_, res) => res.writeHead(404).end())
  const sender = { ...demo, accountKey: demo.senderToken }
  await api(sender, 'POST', '/imports', { pipeId: told!.id, url: `${source.url}/gone.mp4` })
  await uploadEmpty(await tokenFor(demo.baseUrl, demo.senderToken, told!.id), 'whole.bin')
  // The page follows, without a reload.
  const reason = 'status 404'
  const rows = page.getByRole('table', { name: 'Latest files' }).getByRole('row')
  await expect(rows.filter({ hasText: 'whole.bin' })).toContainText('transferred')
  await expect(rows.filter({ hasText: 'gone.mp4' })).toContainText(reason)
  const attention = page.getByRole('list', { name: 'Needs attention' }).getByRole('listitem')
  await expect(attention.filter({ hasText: 'gone.mp4 failed' })).toContainText(reason)
  await expectAccessible(page, 'a Pipe with a failed file')
  await page.goto(`/dashboard/pipes/${other!.id}`)
  await expect(page.getByText('No files yet')).toBeVisible()
  await expect(attention).toHaveCount(0)
  await source.close()
})

test('a followed link shows so until its page arrives', async ({ owner: page, demo }) => {
  await page.goto(`/dashboard/pipes/${demo.pipeId}`)
  const held = Promise.withResolvers<void>()
  await page.route(/\/dashboard\/(senders|pipes\/\w+\/files)/, async (route) => {
    await held.promise
    await route.continue()
  })
  const tab = page.getByRole('navigation', { name: 'Pipe' }).getByRole('link', { name: 'Files' })
  await tab.click()
  await expect(tab.locator('[data-pending]')).toBeAttached()
  const item = page.getByRole('navigation', { name: 'Dashboard' }).getByRole('link', { name: 'Senders' })
  await item.click()
  await expect(item.locator('[data-pending]')).toBeAttached()
  await expect(tab.locator('[data-pending]')).toHaveCount(0)
  held.resolve()
  await expect(page.getByRole('heading', { name: 'Senders' })).toBeVisible()
  await expect(page.locator('[data-pending]')).toHaveCount(0)
})
