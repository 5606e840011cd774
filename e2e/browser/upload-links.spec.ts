import type { Page } from 'playwright/test'
import type { DemoDocument } from '#lib/dashboard/demo/ensure-demo.ts'
import { expectAccessible } from '../../test/support/axe.ts'
import { api, expect, listen, test } from '../../test/support/browser.ts'
import { openDecider } from '../../test/support/decider.ts'
import { file, holdBodies, keptUrls, MIB } from '../../test/support/kit-site.ts'
import { sampleOf } from '../../test/support/sample-files.ts'

/** Tests upload links, which are created in the dashboard and used without an account. */
type Pipe = { id: string; uploadUrl: string }
type Link = { id: string; url: string; state: string; filesCreated: number }

const openPipe = (demo: DemoDocument, fields: object = {}) =>
  api<Pipe>(demo, 'POST', '/pipes', {
    name: 'Links',
    dataStoreId: demo.dataStoreId,
    source: { http: true },
    ...fields,
  })
const statusesOf = async (demo: DemoDocument, { id }: Pipe) => {
  type Files = { data: { filename: string; status: string }[] }
  const { data } = await api<Files>(demo, 'GET', `/files?pipeId=${id}`)
  return Object.fromEntries(data.map(({ filename, status }) => [filename, status]))
}
const row = (page: Page, name: string) => page.getByRole('listitem').filter({ hasText: name })

async function expectAccessibleEverywhere(page: Page, what: string): Promise<void> {
  for (const width of [1280, 360]) {
    await page.setViewportSize({ width, height: 900 })
    await expectAccessible(page, what)
    expect(await page.evaluate(() => document.documentElement.scrollWidth), what).toBe(width)
  }
}

test('a link is created in the dashboard, accepts one file across a reload, and is then used up, closed and deleted', async ({
  owner,
  page,
  demo,
}) => {
  // The pages are checked in both modes and at both widths.
  test.slow()
  const pipe = await openPipe(demo, { allowedOrigins: ['https://www.example.com'] })
  await owner.goto(`/dashboard/pipes/${pipe.id}`)
  await owner.getByRole('link', { name: 'Connect' }).click()
  await owner.getByRole('link', { name: 'Upload links' }).click()
  await owner.getByRole('link', { name: 'Create a link' }).click()
  const dialog = owner.getByRole('dialog', { name: 'Create an upload link' })
  await dialog.getByLabel('Title').fill('Films for May')
  await dialog.getByLabel('Message').fill('One file for each scene.')
  await dialog.getByLabel('Total files').fill('one')
  await dialog.getByLabel('Allowed types').fill('image/*\nvideo')
  await dialog.getByRole('button', { name: 'Create' }).click()
  await expect(dialog.getByLabel('Total files')).toHaveAttribute('aria-invalid', 'true')
  await expect(dialog.getByText('Entry 2: Must be a media type such as image/png or image/*.')).toBeVisible()
  await expectAccessible(owner, 'creating a link')
  await dialog.getByLabel('Total files').fill('1')
  await dialog.getByLabel('Allowed types').fill('')
  await dialog.getByLabel('Email when files arrive').selectOption('demo@sluice.local')
  await dialog.getByRole('button', { name: 'Create' }).click()
  const shown = owner.getByRole('dialog', { name: 'Your upload link' })
  const url = await shown.getByText(/\/u\/\w{22}$/).innerText()
  await shown.getByLabel('I have saved it').check()
  await shown.getByRole('button', { name: 'Done' }).click()

  const response = await page.goto(url)
  expect(response!.headers()).toMatchObject({
    'referrer-policy': 'no-referrer',
    'x-robots-tag': 'noindex, nofollow',
  })
  await expect(page.getByRole('heading', { name: 'Films for May' })).toBeVisible()
  await expect(page.getByText('One file for each scene.')).toBeVisible()
  await expect(page.getByText('1 file left')).toBeVisible()
  await expectAccessibleEverywhere(page, 'an upload link')
  const flow = await holdBodies(page, pipe.uploadUrl)
  await page.getByLabel('Choose files').setInputFiles(file('scene.txt', 2 * MIB))
  await expect.poll(() => statusesOf(demo, pipe)).toEqual({ 'scene.txt': 'uploading' })
  await expect.poll(() => keptUrls(page)).toHaveLength(1)
  await page.reload()
  // The link accepts no more files, but uploads in progress continue.
  await expect(page.getByText('This link accepts no more files')).toBeVisible()
  await expect(row(page, 'scene.txt')).toBeVisible()
  await expect(page.getByLabel('Choose files')).toHaveCount(0)
  flow()
  await expect(row(page, 'scene.txt')).toContainText('Uploaded')
  expect(await statusesOf(demo, pipe)).toEqual({ 'scene.txt': 'transferred' })
  await expect(page.getByText('Your file has arrived')).toBeVisible()
  await expectAccessibleEverywhere(page, 'an exhausted link')
  await expect(async () => {
    await owner.goto('/dashboard/settings/mails')
    const mail = owner.getByText('“Films for May”: 1 file arrived')
    await expect(mail).toBeVisible({ timeout: 1000 })
  }).toPass()
  await owner.getByRole('link', { name: /\/dashboard\/files\?batchId=/ }).click()
  await expect(owner.getByRole('main')).toContainText('1 of 1 file has ended')

  await owner.goto(`/dashboard/pipes/${pipe.id}/links`)
  const links = owner.getByRole('table', { name: 'Upload links' })
  await expect(links.getByRole('row', { name: 'Films for May' })).toContainText('used up')
  await expect(links).toContainText('1 of 1')
  await links.getByRole('button', { name: 'Close Films for May' }).click()
  await expect(links).toContainText('closed')
  await page.reload()
  await expect(page.getByText('This link is closed')).toBeVisible()
  await links.getByRole('button', { name: 'Reopen Films for May' }).click()
  await expect(links).toContainText('used up')
  await links.getByRole('button', { name: 'Edit' }).click()
  await owner.getByLabel('Total files').fill('2')
  await owner.getByRole('button', { name: 'Save' }).click()
  await expect(links).toContainText('1 of 2')
  await expectAccessible(owner, 'the upload links of a Pipe')
  await links.getByRole('button', { name: 'Delete' }).click()
  await owner.getByLabel(/to confirm/).fill('Films for May')
  await owner.getByRole('button', { name: 'Delete this link' }).click()
  await expect(owner.getByText('No upload links yet')).toBeVisible()

  const deleted = await page.goto(url)
  const textOfDeleted = await page.getByRole('main').innerText()
  expect([deleted!.status(), textOfDeleted]).toEqual([
    404,
    expect.stringContaining('This link does not work'),
  ])
  const unknown = await page.goto('/u/AbCdEfGhIjKlMnOpQrStUv')
  expect([unknown!.status(), await page.getByRole('main').innerText()]).toEqual([404, textOfDeleted])
  await expectAccessibleEverywhere(page, 'a link that does not work')
})

test('a link with a password shows its message once unlocked, continues uploads without the password, and shows why a file was rejected', {
  tag: '@long',
}, async ({ page, demo }) => {
  test.slow()
  const decider = await openDecider()
  decider.answer = ({ data }) =>
    JSON.stringify(data).includes('bad.txt') ? { allow: false, reason: 'It has a virus.' } : { allow: true }
  const pipe = await openPipe(demo)
  const hook = { url: decider.url, enabled: true, timeoutSeconds: 5, withoutAnswer: 'refuse' }
  await api(demo, 'PUT', `/pipes/${pipe.id}/hooks/before_complete`, hook)
  const fields = { pipeId: pipe.id, title: 'Rushes', message: 'For your eyes only.', password: 'open sesame' }
  const { url } = await api<Link>(demo, 'POST', '/upload-links', fields)

  await page.goto(url)
  const password = page.getByLabel('Password')
  await expect(page.getByRole('heading', { name: 'Rushes' })).toBeVisible()
  expect(await page.content()).not.toContain('For your eyes only.')
  await password.fill('guess')
  await password.press('Enter')
  await expect(page.getByText('Wrong password.')).toBeVisible()
  await expect(password).toBeFocused()
  await expectAccessibleEverywhere(page, 'a wrong password')
  await password.fill('open sesame')
  await password.press('Enter')
  await expect(page.getByText('For your eyes only.')).toBeVisible()

  const flow = await holdBodies(page, pipe.uploadUrl)
  await page.getByLabel('Choose files').setInputFiles([file('good.txt', 2 * MIB), file('bad.txt', 2 * MIB)])
  await expect.poll(() => statusesOf(demo, pipe)).toEqual({ 'good.txt': 'uploading', 'bad.txt': 'uploading' })
  await page.reload()
  await expect(page.getByText('Uploads in progress continue without the password.')).toBeVisible()
  flow()
  await expect(row(page, 'good.txt')).toContainText('Uploaded')
  await expect(row(page, 'bad.txt')).toContainText('Failed: It has a virus.')
  expect(await statusesOf(demo, pipe)).toEqual({ 'good.txt': 'transferred', 'bad.txt': 'failed' })
  await expectAccessibleEverywhere(page, 'a rejected file')

  await password.fill('open sesame')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByLabel('Choose files').setInputFiles(file('another.txt'))
  await expect(row(page, 'another.txt')).toContainText('Uploaded')
  await decider.close()
})

const IN_LANGUAGES = {
  en: ['Choose files', 'Only videos and images', 'Failed: Files of this type are not accepted here.'],
  de: [
    'Dateien auswählen',
    'Nur Videos und Bilder',
    'Fehlgeschlagen: Dateien dieses Typs werden hier nicht angenommen.',
  ],
  fr: [
    'Choisir des fichiers',
    'Uniquement\u00a0: vidéos et images',
    'Échec\u00a0: Les fichiers de ce type ne sont pas acceptés ici.',
  ],
  es: ['Elegir archivos', 'Solo videos e imágenes', 'Error: Aquí no se aceptan archivos de este tipo.'],
  'pt-BR': [
    'Escolher arquivos',
    'Somente vídeos e imagens',
    'Falha: Arquivos deste tipo não são aceitos aqui.',
  ],
  ja: ['ファイルを選択', '動画、画像のみ', '失敗しました：この種類のファイルは受け付けていません。'],
}

test('a link is in the language of its visitor, fits every width in it, and offers no retry where it cannot help', async ({
  browser,
  demo,
}) => {
  const pipe = await openPipe(demo, { allowedTypes: ['video/*', 'image/*'] })
  const { url } = await api<Link>(demo, 'POST', '/upload-links', {
    pipeId: pipe.id,
    title: 'Films',
    receipts: true,
  })
  for (const [locale, [choose, only, failed]] of Object.entries(IN_LANGUAGES)) {
    const context = await browser.newContext({ locale })
    const page = await context.newPage()
    const complaints = listen(page)
    await page.goto(url)
    await expect(page.locator('html')).toHaveAttribute('lang', locale)
    await expect(page.getByText(only!)).toBeVisible()
    await page.getByLabel(choose!).setInputFiles(file('notes.txt'))
    const refused = row(page, 'notes.txt')
    await expect(refused).toContainText(failed!)
    await expect(refused.getByRole('button')).toHaveCount(1)
    const picture = { name: 'a.png', mimeType: 'image/png', buffer: sampleOf('png') }
    await page.getByLabel(choose!).setInputFiles(picture)
    await expect(page.locator('input[type=email]')).toBeVisible()
    for (const width of [1440, 390, 320]) {
      await page.setViewportSize({ width, height: 900 })
      expect(await page.evaluate(() => document.documentElement.scrollWidth), locale).toBe(width)
    }
    expect(complaints.filter((complaint) => !complaint.includes('403'))).toEqual([])
    await context.close()
  }
})

test('files that a link refuses do not hold back the email about the others', async ({
  owner,
  page,
  demo,
}) => {
  const pipe = await openPipe(demo, { maxFileBytes: 1000 })
  const fields = { pipeId: pipe.id, title: 'Small films', notifyEmail: 'demo@sluice.local', maxFiles: 2 }
  const { url } = await api<Link>(demo, 'POST', '/upload-links', fields)
  await page.goto(url)
  const names = ['large.txt', 'one.txt', 'two.txt', 'three.txt']
  const chosen = names.map((name) => file(name, name === 'large.txt' ? MIB : 10))
  await page.getByLabel('Choose files').setInputFiles(chosen)
  await expect(row(page, 'large.txt')).toContainText('Failed: The file is too large.')
  await expect(row(page, 'Failed: No more files are accepted here.')).toHaveCount(1)
  await expect(async () => {
    await owner.goto('/dashboard/settings/mails')
    await expect(owner.getByText('“Small films”: 2 files arrived')).toBeVisible({ timeout: 1000 })
  }).toPass()
})

test('a link offers a receipt, which lists the files that have arrived', async ({ owner, page, demo }) => {
  const pipe = await openPipe(demo)
  await owner.goto(`/dashboard/pipes/${pipe.id}/links?new=1`)
  const dialog = owner.getByRole('dialog', { name: 'Create an upload link' })
  await dialog.getByLabel('Title').fill('Rushes')
  await dialog.getByLabel('Offer uploaders a receipt by email').check()
  await dialog.getByRole('button', { name: 'Create' }).click()
  const url = await owner.getByText(/\/u\/\w{22}$/).innerText()

  await page.goto(url)
  await page.getByLabel('Choose files').setInputFiles([file('one.txt'), file('two.txt')])
  await expect(page.getByText('All 2 files have arrived')).toBeVisible()
  const email = page.getByLabel('Your email address')
  const ask = page.getByRole('button', { name: 'Send me a receipt' })
  for (const wrong of ['', 'ada@']) {
    await email.fill(wrong)
    await ask.click()
    await expect(page.getByText('Enter your email address.')).toBeVisible()
    await expect(email).toBeFocused()
    await expect(email).toHaveValue(wrong)
  }
  await expectAccessibleEverywhere(page, 'a wrong address for a receipt')
  await email.fill('ada@example.com')
  await ask.click()
  await expect(page.getByText('The receipt is on its way to ada@example.com.')).toBeVisible()
  await expect(email).toHaveCount(0)
  await expect(async () => {
    await owner.goto('/dashboard/settings/mails')
    await expect(owner.getByText('To ada@example.com')).toBeVisible({ timeout: 1000 })
  }).toPass()
  await expect(owner.getByRole('main')).toContainText('Receipt: Rushes')
  await expect(owner.getByRole('main')).toContainText('- two txt')

  await page.getByLabel('Choose files').setInputFiles(file('three.txt'))
  await expect(page.getByText('All 3 files have arrived')).toBeVisible()
  await expect(email).toBeVisible()
})

test('a right-to-left language mirrors a link and its uploads, and fits every width', async ({
  page,
  demo,
}) => {
  const pipe = await openPipe(demo)
  const fields = { pipeId: pipe.id, title: 'أفلام شهر مايو', message: 'ملف واحد لكل مشهد.', maxFiles: 9 }
  const { url } = await api<Link>(demo, 'POST', '/upload-links', fields)
  await page.goto(url)
  const title = page.getByRole('heading', { name: fields.title })
  await expect(title).toHaveCSS('direction', 'rtl')
  await page.evaluate(() => document.documentElement.setAttribute('dir', 'rtl'))
  await page.getByLabel('Choose files').setInputFiles(file('scene.txt'))
  await expect(row(page, 'scene.txt')).toContainText('Uploaded')
  for (const width of [1440, 390]) {
    await page.setViewportSize({ width, height: 900 })
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width)
    const [name, remove, end] = await Promise.all(
      [
        row(page, 'scene.txt').locator('bdi'),
        row(page, 'scene.txt').getByRole('button'),
        row(page, 'scene.txt'),
      ].map(async (part) => (await part.boundingBox())!),
    )
    expect(remove!.x + remove!.width).toBeLessThan(name!.x)
    expect(remove!.x - end!.x).toBeLessThan(end!.x + end!.width - name!.x - name!.width)
  }
  await expectAccessible(page, 'a link from right to left')
})

test("a workspace's name, logo, color and text replace Sluice's on its links, and its logo cannot run script", async ({
  owner,
  page,
  demo,
}) => {
  test.slow()
  const pipe = await openPipe(demo)
  const { url } = await api<Link>(demo, 'POST', '/upload-links', { pipeId: pipe.id, title: 'Films' })
  await owner.goto('/dashboard/settings/link-pages')
  const script = '<script>globalThis.hasRun = true</script>'
  const logo = (name: string, buffer: Buffer) => ({ name, mimeType: 'image/png', buffer })
  const save = () => owner.getByRole('button', { name: 'Save' }).click()
  await owner.getByLabel('Logo').setInputFiles(logo('logo.png', Buffer.from(`<svg>${script}</svg>`)))
  await save()
  await expect(owner.getByText('Must be a PNG, JPEG or WebP image.')).toBeVisible()
  await owner.getByLabel('Logo').setInputFiles(logo('large.png', Buffer.alloc(101 * 1024)))
  await expect(owner.getByText('The image has more than 100 KiB.')).toBeVisible()
  await expect(owner.getByLabel('Logo')).toHaveValue('')
  // An image for some programs, and a page for those that guess.
  const both = Buffer.concat([sampleOf('png'), Buffer.from(`<html>${script}`)])
  await owner.getByLabel('Logo').setInputFiles(logo('logo.png', both))
  await owner.getByRole('textbox', { name: 'Name' }).fill('Acme Films')
  await owner.getByRole('textbox', { name: 'Color' }).fill('#ffd400')
  await owner.getByRole('textbox', { name: 'Text' }).fill('Questions? Ask Ada.')
  const preview = owner.getByRole('figure')
  await expect(preview).toContainText('Acme Films')
  await expect(preview.locator('img')).toHaveAttribute('src', /^blob:/)
  await save()
  await expect(owner.getByLabel('Remove the logo')).toBeVisible()
  await expectAccessibleEverywhere(owner, 'the settings of link pages')

  await page.goto(url)
  await expect(page).toHaveTitle('Films · Acme Films')
  await expect(page.getByRole('banner')).toHaveText('Acme Films')
  await expect(page.getByText('Questions? Ask Ada.')).toBeVisible()
  await expectAccessibleEverywhere(page, 'a link with a name and a color')
  const src = await page.getByRole('banner').locator('img').getAttribute('src')
  const opened = await page.goto(src!)
  expect(opened!.headers()).toMatchObject({
    'content-type': 'image/png',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
    'cache-control': 'public, max-age=31536000, immutable',
  })
  expect(await page.evaluate('globalThis.hasRun')).toBeUndefined()
  await owner.getByLabel('Remove the logo').check()
  await owner.getByRole('textbox', { name: 'Name' }).fill('')
  await owner.getByRole('textbox', { name: 'Color' }).fill('')
  await owner.getByRole('textbox', { name: 'Text' }).fill('')
  await save()
  await expect(owner.getByLabel('Remove the logo')).toHaveCount(0)
  await page.goto(url)
  await expect(page.getByRole('banner')).toHaveText('Sluice')
})

test('on a phone, visitors choose files, and are not asked to drop any', async ({
  browser,
  demo,
  baseURL,
}) => {
  const { id } = await openPipe(demo)
  const { url } = await api<Link>(demo, 'POST', '/upload-links', { pipeId: id, title: 'From a phone' })
  const context = await browser.newContext({ baseURL: baseURL!, isMobile: true, hasTouch: true })
  const page = await context.newPage()
  await page.goto(url)
  await expect(page.getByRole('button', { name: 'Choose files' })).toBeVisible()
  await expect(page.getByText(/Drop files/)).toBeHidden()
  await context.close()
})
