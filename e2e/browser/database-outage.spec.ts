import { expectAccessibleInLight } from '../../test/support/axe.ts'
import { expect, test } from '../../test/support/browser.ts'
import { createDatabase, startPostgres } from '../../test/support/postgres.ts'
import { startSluice, temporaryFolder } from '../../test/support/sluice.ts'
import { openPausingProxy } from '../../test/support/tcp-proxies.ts'

test('without the database, pages that need no data work, and the others recover automatically', {
  tag: '@long',
}, async ({ browser }) => {
  test.setTimeout(180_000)
  const postgres = await startPostgres()
  const database = await createDatabase(postgres.url)
  const line = await openPausingProxy(database.url)
  using folder = temporaryFolder()
  const sluice = await startSluice({
    BASE_URL: 'http://localhost:0',
    DATABASE_URL: line.url,
    DATA_DIR: folder.path,
    ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    AUTH_SECRET: 'a secret of thirty-two characters',
    SIGN_UP: 'open',
    LOG_LEVEL: 'silent',
  })
  const page = await browser.newPage({ baseURL: sluice.baseUrl })
  await page.goto('/sign-up')
  await page.getByLabel('Email').fill('outage@example.com')
  await page.getByLabel('Password').fill('a few words in a row')
  await page.getByRole('button', { name: 'Create account' }).click()
  await expect(page.getByRole('heading', { name: 'Overview' })).toBeVisible()

  line.setAway(true)
  for (const path of ['/', '/login', '/sign-up', '/docs']) {
    const response = await page.goto(path)
    expect(response!.status(), path).toBe(200)
  }
  await page.goto('/dashboard/files')
  await expect(page.getByText('The database is not responding.')).toBeVisible()
  await expectAccessibleInLight(page, 'a page without the database')
  const visitor = await browser.newPage({ baseURL: sluice.baseUrl, locale: 'de-DE' })
  await visitor.goto(`/u/${'a'.repeat(22)}`)
  await expect(
    visitor.getByRole('heading', { name: 'Diese Seite kann gerade nicht angezeigt werden' }),
  ).toBeVisible()
  await expect(visitor.locator('a[href^="/dashboard"]')).toHaveCount(0)
  await expectAccessibleInLight(visitor, 'an upload link without the database')
  await page.getByRole('button', { name: 'Try again' }).click()
  await expect(page.getByText('The database is not responding.')).toBeVisible()
  line.setAway(false)
  await expect(page.getByRole('heading', { name: 'Files', exact: true })).toBeVisible({ timeout: 60_000 })
  await expect(visitor.getByRole('heading', { name: 'Dieser Link funktioniert nicht' })).toBeVisible({
    timeout: 60_000,
  })

  await visitor.close()
  await page.close()
  await sluice.stop()
  await line.close()
  await database.drop()
  await postgres.stop()
})
