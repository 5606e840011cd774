import { readFileSync } from 'node:fs'
import type { Browser } from 'playwright/test'
import { linkHosts } from '#drizzle/schema/index.ts'
import { openDatabase } from '#lib/platform/db/open-database.ts'
import { createLogger } from '#lib/platform/log/log.ts'
import { expectAccessible } from '../../test/support/axe.ts'
import { api, expect, listen, test } from '../../test/support/browser.ts'
import { CERTIFICATE } from '../../test/support/certificates.ts'
import { file } from '../../test/support/kit-site.ts'
import { sampleOf } from '../../test/support/sample-files.ts'
import { type Sluice, startSluice, temporaryFolder } from '../../test/support/sluice.ts'
import { readDemo } from '../../test/support/target.ts'

/** Browsers resolve it to this machine. */
const HOST = 'files.localhost'

async function openSettings(browser: Browser, { baseUrl }: Sluice, demo: ReturnType<typeof readDemo>) {
  const page = await browser.newPage({
    baseURL: baseUrl,
    reducedMotion: 'reduce',
    ignoreHTTPSErrors: true,
  })
  await page.goto('/login')
  await page.getByLabel('Email').fill(demo.email)
  await page.getByLabel('Password').fill(demo.password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForURL('**/dashboard')
  await page.goto('/dashboard/settings/link-pages')
  return page
}

const middleOf = ({ y, height }: { y: number; height: number }) => y + height / 2

async function change(dataDir: string, row: Partial<typeof linkHosts.$inferInsert>): Promise<void> {
  const { db, close } = await openDatabase({ dataDir }, { log: createLogger('silent'), share: true })
  await db.update(linkHosts).set(row)
  await close()
}

test('the settings show whether the host has a certificate, and why not', async ({ browser }) => {
  test.slow()
  using folder = temporaryFolder()
  const sluice = await startSluice({
    DATA_DIR: folder.path,
    TLS_CERT_FILE: CERTIFICATE.cert,
    TLS_KEY_FILE: CERTIFICATE.key,
    ACME_DIRECTORY: 'https://localhost:1/dir',
    LOG_LEVEL: 'error',
  })
  const page = await openSettings(browser, sluice, readDemo(folder.path))
  await page.getByRole('textbox', { name: 'Host' }).fill(HOST)
  await page.getByRole('button', { name: 'Add' }).click()
  const panel = page.locator('section').filter({ hasText: 'Host name' })
  await expect(panel.getByText('not verified')).toBeVisible()
  await expect(panel).not.toContainText('certificate is')

  const later = new Date(Date.now() + 86_400_000)
  await change(folder.path, { verifiedAt: new Date(), certificateDueAt: later })
  await page.reload()
  await expect(panel).toContainText(`New upload links start with ${HOST} once it has a certificate.`)
  await expect(panel).toContainText('Its certificate is being ordered')

  await change(folder.path, { certificateFault: `The address of ${HOST} does not lead to this server.` })
  await page.reload()
  await expect(panel).toContainText(/No certificate yet.*does not lead to this server\..*tries again later/)
  await expect(panel.getByRole('button', { name: 'Check now' })).toBeVisible()
  await expectAccessible(page, 'a host name without a certificate')

  await change(folder.path, { certificate: readFileSync(CERTIFICATE.cert, 'utf8') })
  await page.reload()
  await expect(panel).toContainText('The certificate is not renewed')
  await change(folder.path, { certificateFault: null })
  await page.reload()
  await expect(panel).toContainText(/Its certificate is valid until .*2126/)
  await expect(panel).toContainText(`New upload links start with ${HOST}. Earlier ones`)
  await sluice.stop()
})

test("a link on the workspace's own host uploads a file, and contacts no other host", async ({ browser }) => {
  test.slow()
  using folder = temporaryFolder()
  const sluice = await startSluice({ DATA_DIR: folder.path, PROCESSES: '2', LOG_LEVEL: 'warn' })
  const demo = readDemo(folder.path)
  const owner = await openSettings(browser, sluice, demo)
  const host = owner.getByRole('textbox', { name: 'Host' })
  await host.fill('http://files')
  await owner.getByRole('button', { name: 'Add' }).click()
  await expect(owner.getByText('Must be a host name such as files.example.com.')).toBeVisible()
  await host.fill('Files.localhost.')
  await owner.getByRole('button', { name: 'Add' }).click()
  const panel = owner.locator('section').filter({ hasText: 'Host name' })
  await expect(panel.getByText('not verified')).toBeVisible()
  await expect(panel.getByText(`_sluice.${HOST}`)).toBeVisible()
  await expect(panel.getByText(/^sluice-workspace=[0-9a-f-]{36}$/)).toBeVisible()
  await expect(panel.getByRole('button', { name: /^Copy (name|value) of the / })).toHaveCount(4)
  await panel.getByRole('button', { name: 'Check now' }).click()
  await expect(panel.getByRole('alert')).toHaveText(/^There is no TXT record|did not answer/)
  const [check, remove] = await Promise.all(
    [/^Check now/, `Remove ${HOST}`].map((name) => panel.getByRole('button', { name }).boundingBox()),
  )
  expect(middleOf(remove!)).toBeCloseTo(middleOf(check!), 0)
  expect(remove!.x).toBeGreaterThan(check!.x + check!.width)
  await expectAccessible(owner, 'a host name and its records')

  await change(folder.path, { verifiedAt: new Date() })
  await owner.reload()
  await expect(panel.getByText('verified', { exact: true })).toBeVisible()
  await expectAccessible(owner, 'a verified host name')
  await api(demo, 'PUT', '/link-pages/logo', { image: sampleOf('png').toString('base64') })
  const { url } = await api<{ url: string }>(demo, 'POST', '/upload-links', {
    pipeId: demo.pipeId,
    title: 'Films for May',
  })
  const { port } = new URL(sluice.baseUrl)
  expect(new URL(url).origin).toBe(`http://${HOST}:${port}`)

  const visitors = await browser.newContext({ reducedMotion: 'reduce' })
  const page = await visitors.newPage()
  const complaints = listen(page)
  const contacted = new Set<string>()
  page.on('request', (request) => contacted.add(new URL(request.url()).host))
  await page.goto(url)
  await expect(page.getByRole('heading', { name: 'Films for May' })).toBeVisible()
  const logo = page.getByRole('banner').locator('img')
  await expect(logo).toHaveAttribute('src', new RegExp(`^http://${HOST}:${port}/u/logo/`))
  await page.getByLabel('Choose files').setInputFiles(file('scene.txt'))
  await expect(page.getByText('Your file has arrived')).toBeVisible()
  expect([...contacted]).toEqual([`${HOST}:${port}`])
  expect(await visitors.cookies()).toEqual([])
  expect(complaints).toEqual([])
  const elsewhere = await page.goto(`http://${HOST}:${port}/login`)
  expect(elsewhere!.status()).toBe(404)

  await panel.getByRole('button', { name: `Remove ${HOST}` }).click()
  await owner.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await expect(host).toBeVisible()
  await sluice.stop()
})
