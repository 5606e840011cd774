import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import type { Page } from 'playwright/test'
import { kitHtmlSnippet } from '#lib/dashboard/embed/snippets.ts'
import { expectAccessible } from '../../test/support/axe.ts'
import { expect, listen, test } from '../../test/support/browser.ts'
import { revokeNewest } from '../../test/support/customer.ts'
import { file, holdBodies, MIB, objectOf, openOnLine, openSite } from '../../test/support/kit-site.ts'

/** Tests `<sluice-uploader>`, as the server serves it. The tests of @sluice/react cover the core that it shares. */
const row = (page: Page, name: string) => page.getByRole('listitem').filter({ hasText: name })

test('on a plain HTML page, an upload resumes after a lost connection, a revoked token and a reload, and reports its end', async ({
  demo,
  page,
}, info) => {
  const complaints = listen(page)
  await using at = await openOnLine(
    demo,
    `${kitHtmlSnippet(demo)}<script>
document.querySelector('sluice-uploader').addEventListener('done', ({ detail }) => { globalThis.ended = detail })
</script>`,
  )
  const { line } = at
  const name = `${at.pipeId}.bin`
  const path = info.outputPath(name)
  writeFileSync(path, randomBytes(3 * MIB))
  await page.goto(at.url)
  expect(complaints.filter((complaint) => !complaint.includes('favicon'))).toEqual([])
  line.stopAt = MIB
  await page.getByLabel('Choose files').setInputFiles(path)
  await expect.poll(() => line.stalled).toBe(1)
  await revokeNewest(demo, at.pipeId)
  line.stopAt = 2 * MIB
  line.cut()
  await expect.poll(() => line.stalled).toBe(1)
  line.stopAt = Number.POSITIVE_INFINITY
  await page.reload()
  await expect(row(page, name)).toContainText('Uploaded')
  expect(objectOf(demo, name).equals(readFileSync(path))).toBe(true)
  const [stored, ...others] = await at.stored()
  expect([stored!.status, others]).toEqual(['transferred', []])
  expect(stored!.savedBytes).toBeGreaterThan(0)
  expect(await page.evaluate('ended')).toMatchObject({ name, state: 'done', fileId: stored!.id })
})

test('uploads are paused, resumed and canceled with the keyboard, and every state is accessible in light and dark', async ({
  demo,
  page,
}) => {
  const style = `<style>:root { color-scheme: light dark; font-family: sans-serif }
main { max-width: 40rem; margin: 2rem auto } sluice-uploader::part(paused) { border-style: dashed }</style>`
  const element = kitHtmlSnippet(demo).replace('<sluice-uploader>', '<sluice-uploader parallel="2">')
  await using customer = await openSite(demo, `${style}<main><h1>Kit</h1>${element}</main>`)
  await page.goto(customer.url)
  await expectAccessible(page, 'the empty component')
  const flow = await holdBodies(page, customer.uploadUrl)
  const input = page.getByLabel('Choose files')
  await input.setInputFiles(['one.txt', 'two.txt', 'three.txt'].map((name) => file(name, 2 * MIB)))
  await expect(row(page, 'three.txt')).toContainText('In the queue')
  await page.keyboard.press('Tab')
  await expect(input).toBeFocused()
  await page.keyboard.press('Tab')
  await expect(page.getByRole('button', { name: 'Pause one.txt' })).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(row(page, 'one.txt')).toContainText('Paused at')
  await expect(row(page, 'one.txt')).toHaveCSS('border-top-style', 'dashed')
  await expect(page.getByRole('button', { name: 'Resume one.txt' })).toBeFocused()
  await expect(page.getByRole('status')).toContainText('three.txt')
  await expectAccessible(page, 'a paused upload')

  await page.getByRole('button', { name: 'Cancel two.txt' }).press('Enter')
  await expect(row(page, 'two.txt')).toHaveCount(0)
  await expect(row(page, 'three.txt')).toBeFocused()
  flow()
  await page.getByRole('button', { name: 'Resume one.txt' }).press('Enter')
  await expect(row(page, 'one.txt')).toContainText('Uploaded')
  await expect(page.getByRole('status')).toHaveText('one.txt: Uploaded')
  await expect(row(page, 'one.txt')).toBeFocused()
  await expect.poll(customer.statuses).toEqual({
    'one.txt': 'transferred',
    'two.txt': 'canceled',
    'three.txt': 'transferred',
  })
  await expectAccessible(page, 'uploads that are done')
})

test('small files are sent in one request each, which can be paused and canceled', async ({ demo, page }) => {
  await using at = await openOnLine(demo, kitHtmlSnippet(demo))
  await page.goto(at.url)
  const bodies: string[] = []
  page.on('request', (request) => {
    if (request.url().startsWith(at.line.url) && request.method() !== 'OPTIONS') bodies.push(request.method())
  })
  await page.getByLabel('Choose files').setInputFiles(file('whole.txt', MIB))
  await expect(row(page, 'whole.txt')).toContainText('Uploaded')
  expect(bodies).toEqual(['POST'])
  at.line.stopAt = MIB / 4
  await page.getByLabel('Choose files').setInputFiles([file('canceled.txt', MIB), file('paused.txt', MIB)])
  await expect.poll(() => at.line.stalled).toBe(2)
  await page.getByRole('button', { name: 'Cancel canceled.txt' }).click()
  await page.getByRole('button', { name: 'Pause paused.txt' }).click()
  at.line.stopAt = Number.POSITIVE_INFINITY
  await expect
    .poll(at.statuses)
    .toEqual({ 'whole.txt': 'transferred', 'canceled.txt': 'canceled', 'paused.txt': 'uploading' })
  await page.getByRole('button', { name: 'Resume paused.txt' }).click()
  await expect(row(page, 'paused.txt')).toContainText('Uploaded')
  expect(objectOf(demo, 'paused.txt').equals(file('', MIB).buffer)).toBe(true)
  expect(await at.stored()).toHaveLength(3)
})

test('a framework sets properties and moves the element, files are dropped, and a refusal shows its reason', {
  tag: '@long',
}, async ({ demo, page }) => {
  // As frameworks do: the properties are set before the element is defined and inserted.
  const app = `<meta charset="utf-8"><main></main><script>
const uploader = document.createElement('sluice-uploader')
Object.assign(uploader, {
  words: { choose: 'Dateien wählen', failed: 'Fehlgeschlagen: {reason}' },
  single: true,
  getToken: async () => (await fetch('/api/upload-token', { method: 'POST' })).json(),
})
uploader.addEventListener('failed', ({ detail }) => { globalThis.failed = detail.reason })
uploader.addEventListener('change', ({ detail }) => { globalThis.states = detail.map(({ state }) => state) })
document.querySelector('main').append(uploader)
</script>`
  await using customer = await openSite(demo, app + kitHtmlSnippet(demo).split('\n')[0])
  const issue = customer.backend.post
  customer.backend.post = async () => {
    const { uploadUrl } = (await (await issue()).json()) as { uploadUrl: string }
    const expiresAt = new Date(Date.now() + 3_600_000).toISOString()
    return Response.json({ token: 'tmp_of_nobody', expiresAt, uploadUrl })
  }
  await page.goto(customer.url)
  await expect(page.getByLabel('Dateien wählen')).not.toHaveAttribute('multiple')
  const dropped = await page.evaluateHandle(() => {
    const data = new DataTransfer()
    for (const name of ['kept.txt', 'ignored.txt']) data.items.add(new File(['x'], name))
    return data
  })
  await page.locator('.sluice-dropzone').dispatchEvent('drop', { dataTransfer: dropped })
  await expect(page.getByRole('listitem')).toHaveText(/kept\.txt.*Fehlgeschlagen: /)
  await expect.poll(() => page.evaluate('[failed, states]')).toEqual([expect.any(String), ['failed']])

  customer.backend.post = issue
  await page.evaluate(() => document.body.append(document.querySelector('sluice-uploader')!))
  await page.getByRole('button', { name: 'Retry kept.txt' }).click()
  await expect.poll(customer.statuses).toEqual({ 'kept.txt': 'transferred' })
  await page.evaluate(() => document.querySelector('sluice-uploader')!.setAttribute('compact', ''))
  await expect(page.getByText('Drop files or folders here')).toBeHidden()
})

test('frameworks find a setter for each property, and hear each event at the root of the page', async ({
  demo,
  page,
}) => {
  await using customer = await openSite(demo, kitHtmlSnippet(demo))
  await page.goto(customer.url)
  const properties = ['getToken', 'batch', 'words', 'tokenUrl', 'keepBytes', 'parallel', 'single']
  const settable = await page.evaluate((names) => {
    const { prototype } = customElements.get('sluice-uploader')!
    return names.filter((name) => Object.getOwnPropertyDescriptor(prototype, name)?.set)
  }, properties)
  expect(settable).toEqual(properties)
  await page.evaluate(() => {
    const heard: Record<string, unknown> = {}
    for (const type of ['change', 'done'])
      document.addEventListener(type, (event) => (heard[type] = (event as CustomEvent).detail))
    Object.assign(globalThis, { heard })
  })
  await page.getByLabel('Choose files').setInputFiles(file('heard.txt'))
  const upload = expect.objectContaining({ name: 'heard.txt', state: 'done' })
  await expect.poll(() => page.evaluate('heard')).toEqual({ change: [upload], done: upload })
})

test('the component is in the language of its page or its own, and only loads that one', async ({
  demo,
  browser,
}) => {
  const element = kitHtmlSnippet(demo)
  await using customer = await openSite(demo, `<div lang="fr-CA">${element}</div>`)
  const context = await browser.newContext({ locale: 'ja' })
  const page = await context.newPage()
  const loaded: string[] = []
  page.on('request', (request) => {
    const [, language] = request.url().match(/words-(\w+)\.js$/) ?? []
    if (language) loaded.push(language)
  })
  await page.goto(customer.url)
  await expect(page.getByLabel('Choisir des fichiers')).toBeAttached()
  const component = page.locator('sluice-uploader')
  await component.evaluate((element: HTMLElement) => element.setAttribute('lang', 'es'))
  await expect(page.getByLabel('Elegir archivos')).toBeAttached()
  await component.evaluate((element: HTMLElement) => element.setAttribute('lang', 'en'))
  await expect(page.getByLabel('Choose files')).toBeAttached()
  await page.evaluate(() => {
    document.querySelector('div')!.removeAttribute('lang')
    document.documentElement.removeAttribute('lang')
    document.querySelector('sluice-uploader')!.removeAttribute('lang')
  })
  await expect(page.getByLabel('ファイルを選択')).toBeAttached()
  expect(loaded).toEqual(['fr', 'es', 'ja'])
  await context.close()
})
