import { expectAccessible } from '../../test/support/axe.ts'
import { api, expect, test } from '../../test/support/browser.ts'
import { file, holdBodies, keptUrls, MIB, openCustomer } from '../../test/support/kit-site.ts'

/** Tests the @sluice/react components. The Try it tests cover interruptions, tokens and reloads. */

test('several files are uploaded, paused, resumed and canceled with the keyboard, and every state is accessible and announced', async ({
  demo,
  page,
}) => {
  await using customer = await openCustomer(demo, '<UploadDropzone parallel={2} />')
  await page.goto(customer.url)
  await expectAccessible(page, 'the dropzone')
  const flow = await holdBodies(page, customer.uploadUrl)
  const input = page.getByLabel('Choose files')
  await input.setInputFiles(['one.txt', 'two.txt', 'three.txt'].map((name) => file(name, 2 * MIB)))
  const row = (name: string) => page.getByRole('listitem').filter({ hasText: name })
  await expect(row('three.txt')).toContainText('In the queue')
  await expect.poll(async () => Object.keys(await customer.statuses()).length).toBe(2)
  await expectAccessible(page, 'uploads in progress')

  // The third upload starts while the first is paused.
  await page.getByRole('button', { name: 'Pause one.txt' }).focus()
  await page.keyboard.press('Enter')
  await expect(row('one.txt')).toContainText('Paused at')
  await expect(page.getByRole('button', { name: 'Resume one.txt' })).toBeFocused()
  await expect(row('three.txt')).toHaveAttribute('data-state', 'uploading')
  await expect(page.getByRole('status')).toContainText('three.txt')
  await page.getByRole('button', { name: 'Cancel two.txt' }).press('Enter')
  await expect(row('two.txt')).toHaveCount(0)
  await expectAccessible(page, 'a paused upload')

  flow()
  await expect(row('three.txt')).toContainText('Uploaded')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Resume one.txt' }).press('Enter')
  await expect(row('one.txt')).toContainText('Uploaded')
  await expect(page.getByRole('status')).toHaveText('one.txt: Uploaded')
  // The button with the focus disappeared, so the focus moved to its row.
  await expect(row('one.txt')).toBeFocused()
  await expect.poll(customer.statuses).toMatchObject({ 'one.txt': 'transferred', 'three.txt': 'transferred' })
  await expect.poll(async () => (await customer.statuses())['two.txt']).toBe('canceled')
  await expectAccessible(page, 'uploads that are done')
})

test('an upload canceled while it is being created is deleted, and one that was paused continues at its address', async ({
  demo,
  page,
}) => {
  await using customer = await openCustomer(demo, '<UploadDropzone />')
  await page.goto(customer.url)
  const gate = Promise.withResolvers<void>()
  await page.route(`${customer.uploadUrl}**`, async (route) => {
    if (route.request().method() !== 'POST') return route.continue()
    const response = await route.fetch()
    await gate.promise
    await route.fulfill({ response }).catch(() => undefined)
  })
  await page
    .getByLabel('Choose files')
    .setInputFiles(['given-up.txt', 'paused.txt', 'resumed.txt'].map((name) => file(name, 2 * MIB)))
  const sending = { 'given-up.txt': 'uploading', 'paused.txt': 'uploading', 'resumed.txt': 'uploading' }
  await expect.poll(customer.statuses).toEqual(sending)
  await page.getByRole('button', { name: 'Cancel given-up.txt' }).click()
  for (const name of ['paused.txt', 'resumed.txt'])
    await page.getByRole('button', { name: `Pause ${name}` }).click()
  await page.getByRole('button', { name: 'Resume resumed.txt' }).click()
  gate.resolve()
  await expect
    .poll(customer.statuses)
    .toEqual({ 'given-up.txt': 'canceled', 'paused.txt': 'uploading', 'resumed.txt': 'transferred' })
  await page.getByRole('button', { name: 'Resume paused.txt' }).click()
  await expect(page.getByRole('listitem').filter({ hasText: 'Uploaded' })).toHaveCount(2)
  const { data } = await api<{ data: unknown[] }>(demo, 'GET', `/files?pipeId=${customer.pipeId}`)
  expect(data).toHaveLength(3)
})

test('a refused upload shows the reason and can be retried, even after a reload', async ({ demo, page }) => {
  await using customer = await openCustomer(demo, '<UploadButton>Send</UploadButton>')
  const issue = customer.backend.post
  customer.backend.post = async () => Response.json({}, { status: 403 })
  await page.goto(customer.url)
  await page.getByLabel('Send').setInputFiles(file('refused.txt'))
  await expect(page.getByRole('listitem')).toContainText('Failed: No upload token: 403')
  await expectAccessible(page, 'a refused upload')
  await page.reload()
  await expect(page.getByRole('listitem')).toContainText('Paused at 0%')
  await page.getByRole('button', { name: 'Resume refused.txt' }).click()
  await expect(page.getByRole('listitem')).toContainText('Failed')
  customer.backend.post = issue
  await page.getByRole('button', { name: 'Retry refused.txt' }).click()
  await expect(page.getByRole('listitem')).toContainText('Uploaded')
  await page.reload()
  await expect(page.getByLabel('Send')).toBeAttached()
  await expect(page.getByRole('listitem')).toHaveCount(0)
})

test('empty and identical files added offline are uploaded from several lists on one page', async ({
  demo,
  page,
  context,
}) => {
  const element = `<><UploadButton>First</UploadButton><UploadButton>Second</UploadButton></>`
  await using customer = await openCustomer(demo, element)
  await page.goto(customer.url)
  await context.setOffline(true)
  await page.getByLabel('First').setInputFiles([file('same.txt'), file('same.txt'), file('empty.txt', 0)])
  await page.getByLabel('Second').setInputFiles(file('same.txt'))
  await expect(page.getByRole('listitem').filter({ hasText: 'Waiting for the network' })).toHaveCount(4)
  await context.setOffline(false)
  await expect(page.getByRole('listitem').filter({ hasText: 'Uploaded' })).toHaveCount(4)
  for (const progress of await page.getByRole('progressbar').all())
    expect(await progress.getAttribute('value')).toBe('100')
  const { data } = await api<{ data: object[] }>(
    demo,
    'GET',
    `/files?pipeId=${customer.pipeId}&status=transferred`,
  )
  expect(data).toHaveLength(4)
})

test("a token is requested with the page's current properties, not those of its first render", async ({
  demo,
  page,
}) => {
  const code = `function App() {
  const [user, signIn] = useState('')
  const getToken = async () => {
    if (!user) throw new UploadFailure('Sign in first', 401)
    return (await fetch('/api/upload-token', { method: 'POST' })).json()
  }
  return <><button onClick={() => signIn('user-1')}>Sign in</button><UploadButton getToken={getToken} /></>
}`
  await using customer = await openCustomer(demo, '<App />', { code })
  await page.goto(customer.url)
  await page.getByLabel('Choose files').setInputFiles(file('mine.txt'))
  await expect(page.getByRole('listitem')).toContainText('Failed: Sign in first')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('button', { name: 'Retry mine.txt' }).click()
  await expect(page.getByRole('listitem')).toContainText('Uploaded')
})

const HALF_DONE = `<UploadDropzone control={{
  uploads: [{ id: '1', name: 'half.txt', type: '', size: 100, sentBytes: 50, state: 'uploading' }],
  busy: true, add() {}, pause() {}, resume() {}, retry() {}, cancel() {},
}} />`

test('nothing moves when reduced motion is preferred', async ({ demo, page }) => {
  await using customer = await openCustomer(demo, HALF_DONE)
  const moving = () =>
    page.evaluate(
      () =>
        document.getAnimations().length +
        [...document.querySelectorAll('.sluice *')].filter((element) => {
          const { transitionDuration, animationName } = getComputedStyle(element)
          return !/^0s(, 0s)*$/.test(transitionDuration) || animationName !== 'none'
        }).length,
    )
  await page.emulateMedia({ reducedMotion: 'no-preference' })
  await page.goto(customer.url)
  expect(await moving()).toBeGreaterThan(0)
  await page.emulateMedia({ reducedMotion: 'reduce' })
  expect(await moving()).toBe(0)
})

test('in forced colors, the button has a border and the progress is visible', async ({ demo, page }) => {
  await using customer = await openCustomer(demo, HALF_DONE)
  await page.emulateMedia({ forcedColors: 'active' })
  await page.goto(customer.url)
  await expectAccessible(page, 'forced colors')
  await expect(page.locator('.sluice-choose')).toHaveCSS('border-top-style', 'solid')
  const progress = page.getByRole('progressbar')
  const picture = (await progress.screenshot()).toString('base64')
  const [sent, left] = await page.evaluate(async (base64) => {
    const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${base64}`)).blob())
    const canvas = new OffscreenCanvas(image.width, image.height).getContext('2d')!
    canvas.drawImage(image, 0, 0)
    return [0.25, 0.75].map((share) =>
      [
        ...canvas.getImageData(Math.round(image.width * share), Math.floor(image.height / 2), 1, 1).data,
      ].join(),
    )
  }, picture)
  expect(sent).not.toBe(left)
})

test('each drop is its own batch, sealed once all of its files are created, even across a reload', async ({
  demo,
  page,
}) => {
  const element = `<UploadButton parallel={1} batch={(files) => 'drop of ' + files.length} />`
  await using customer = await openCustomer(demo, element)
  type Batch = { name: string; files: number; sealedAt: string | null }
  const batchOf = async (name: string) => {
    type Files = { data: { filename: string; batch: { id: string } | null }[] }
    const { data } = await api<Files>(demo, 'GET', `/files?pipeId=${customer.pipeId}`)
    const { batch } = data.find(({ filename }) => filename === name)!
    return api<Batch>(demo, 'GET', `/batches/${batch!.id}`)
  }
  const names = ['one.txt', 'two.txt', 'three.txt', 'four.txt', 'five.txt']
  await page.goto(customer.url)
  const flow = await holdBodies(page, customer.uploadUrl)
  await page.getByLabel('Choose files').setInputFiles(names.map((name) => file(name, 2 * MIB)))
  await expect.poll(customer.statuses).toEqual({ 'one.txt': 'uploading' })
  // If the page were reloaded earlier, it would create the first upload again.
  await expect.poll(() => keptUrls(page)).toHaveLength(1)
  await page.reload()
  await expect(page.getByRole('listitem')).toContainText(names)
  expect(await batchOf('one.txt')).toMatchObject({ name: 'drop of 5', files: 1, sealedAt: null })
  flow()
  await expect(page.getByRole('listitem').filter({ hasText: 'Uploaded' })).toHaveCount(5)
  await expect
    .poll(() => batchOf('two.txt'))
    .toMatchObject({ name: 'drop of 5', files: 5, sealedAt: expect.any(String) })

  // The next drop is another batch.
  await page
    .getByLabel('Choose files')
    .setInputFiles(['six.txt', 'seven.txt', 'eight.txt'].map((name) => file(name)))
  await expect(page.getByRole('listitem').filter({ hasText: 'Uploaded' })).toHaveCount(8)
  await expect
    .poll(() => batchOf('eight.txt'))
    .toMatchObject({ name: 'drop of 3', files: 3, sealedAt: expect.any(String) })
})

test('the texts are in the language that is set, and the page replaces some of them', async ({
  demo,
  page,
}) => {
  const element = `<UploadDropzone lang="fr" words={{ choose: 'Choisir mes photos' }} />`
  await using customer = await openCustomer(demo, element)
  await page.goto(customer.url)
  await expect(page.getByText('Déposez des fichiers ou des dossiers ici')).toBeVisible()
  await page.getByLabel('Choisir mes photos').setInputFiles(file('a.txt'))
  await expect(page.getByRole('listitem')).toContainText('Envoyé')
  await expect(page.getByRole('button', { name: 'Retirer a.txt de la liste' })).toBeVisible()
})
