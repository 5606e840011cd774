import type { WholeDelivery } from '#lib/webhooks/log/delivery.ts'
import { makeRefusedPipe } from '../../test/support/addresses.ts'
import { beginUpload, tokenFor } from '../../test/support/begin-upload.ts'
import { api, expect, openPalette, test } from '../../test/support/browser.ts'
import { press, tabTo } from '../../test/support/keys.ts'

test('the main tasks can be done with the keyboard alone', async ({ owner: page }) => {
  await page.goto('/dashboard')
  await page.keyboard.press('Tab')
  await expect(page.getByRole('link', { name: 'Skip to content' })).toBeFocused()
  await tabTo(page, 'Senders')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { name: 'Senders' })).toBeVisible()
  await tabTo(page, 'Create a Sender')
  await page.keyboard.press('Enter')
  // The dialog has the focus, and keeps it.
  await expect(page.getByLabel('Name')).toBeFocused()
  await page.keyboard.type('by keyboard')
  await page.keyboard.press('Enter')
  await expect(page.getByText('Your Sender token')).toBeVisible()
  await tabTo(page, 'I have saved it')
  await page.keyboard.press('Space')
  await tabTo(page, 'Done')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('link', { name: 'by keyboard' })).toBeVisible()

  await page.goto('/dashboard/pipes')
  await tabTo(page, 'Demo Pipe')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { name: 'Demo Pipe' })).toBeVisible()
  await press(page, 'Connect')
  await expect(page.getByRole('switch', { name: 'HTTP (TUS)' })).toBeVisible()
  await press(page, 'Embed')
  await expect(page.getByRole('tab', { name: 'Uppy', exact: true })).toBeVisible()
  await tabTo(page, 'Uppy')
  await page.keyboard.press('ArrowRight')
  await expect(page.getByRole('tab', { name: 'Uppy for React' })).toBeFocused()
  await expect(page.getByRole('tabpanel', { name: 'Uppy for React' })).toBeVisible()

  await page.goto('/dashboard/senders')
  await tabTo(page, 'by keyboard')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { name: 'by keyboard' })).toBeVisible()
  await tabTo(page, 'Revoke…')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('dialog')).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(page.getByRole('button', { name: 'Revoke…' })).toBeFocused()
})

test('on a phone, the menu leads to the same pages', async ({ browser, baseURL }) => {
  const context = await browser.newContext({
    baseURL: baseURL!,
    storageState: process.env.SLUICE_STATE!,
    viewport: { width: 390, height: 844 },
  })
  const page = await context.newPage()
  await page.goto('/dashboard')
  await page.getByRole('button', { name: 'Open the menu' }).click()
  await page.getByRole('dialog').getByRole('link', { name: 'Usage' }).click()
  await expect(page.getByRole('heading', { name: 'Usage' })).toBeVisible()
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await context.close()
})

test('a Sender is rotated, then its temporary token and the Sender are revoked, with the keyboard alone', {
  tag: '@long',
}, async ({ owner: page, demo }) => {
  const sender = await api<{ id: string; token: string }>(demo, 'POST', '/senders', {
    name: 'rotated by keys',
  })
  await tokenFor(demo.baseUrl, sender.token, demo.pipeId)
  await page.goto(`/dashboard/senders/${sender.id}`)
  await press(page, 'Rotate')
  const dialog = page.getByRole('dialog')
  await expect(dialog).toBeVisible()
  await tabTo(page, 'Overlap')
  await page.keyboard.press('ArrowDown')
  await expect(page.getByLabel('Overlap')).toHaveValue('3')
  await press(page, 'Rotate')
  await expect(page.getByText('Your new Sender token')).toBeVisible()
  // A secret that is shown once is not lost by an accidental key press.
  await page.keyboard.press('Escape')
  await press(page, 'I have saved it', 'Space')
  await press(page, 'Done')
  await expect(dialog).toHaveCount(0)
  await expect(page.getByText('still valid, expires')).toBeVisible()

  await press(page, 'Revoke')
  await expect(page.getByRole('dialog')).toBeVisible()
  await press(page, 'Revoke')
  await expect(dialog).toHaveCount(0)
  await expect(page.getByRole('row').nth(1).getByText('revoked')).toBeVisible()

  await press(page, 'Revoke…')
  await tabTo(page, /to confirm$/)
  await page.keyboard.type('rotated by keys')
  await page.keyboard.press('Enter')
  const heading = page.getByRole('heading', { name: 'rotated by keys', exact: true }).locator('..')
  await expect(heading.getByText('revoked')).toBeVisible()
})

test('a webhook is switched on, its secret rotated, and a test event sent and resent, with the keyboard alone', {
  tag: '@long',
}, async ({ owner: page, demo }) => {
  const fields = { name: 'Hooked by keys', dataStoreId: demo.dataStoreId, source: { http: true } }
  const pipe = await api<{ id: string }>(demo, 'POST', '/pipes', fields)
  await page.goto(`/dashboard/pipes/${pipe.id}/sources`)
  await press(page, 'HTTP (TUS)', 'Space')
  await expect(page.getByRole('switch', { name: 'HTTP (TUS)' })).not.toBeChecked()
  await page.keyboard.press('Space')
  await expect(page.getByRole('switch', { name: 'HTTP (TUS)' })).toBeChecked()
  await page.goto(`/dashboard/pipes/${pipe.id}/webhooks`)
  await press(page, 'Use your inbox')
  await press(page, 'Switch on')
  await expect(page.getByText('Your webhook secret')).toBeVisible()
  await press(page, 'I have saved it', 'Space')
  await press(page, 'Done')
  await press(page, 'Reveal')
  const first = await page.getByText(/^whsec_.{20,}/).textContent()
  await press(page, 'Rotate')
  await expect(page.getByRole('dialog')).toBeVisible()
  await press(page, 'Rotate')
  await expect(page.getByText(first!)).toHaveCount(0)
  await expect(page.getByRole('dialog')).toHaveCount(0)

  await press(page, 'Send a test')
  const drawer = page.getByRole('dialog', { name: 'Delivery' })
  const attempts = drawer.getByRole('list', { name: 'Attempts' }).getByRole('listitem')
  await expect(attempts).toHaveCount(1)
  await press(page, 'Resend')
  await expect(attempts).toHaveCount(2)
  // Earlier attempts are collapsed.
  const earlier = attempts.last().getByRole('group')
  await expect(earlier).not.toHaveAttribute('open')
  await expect(drawer.getByText('delivered')).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(drawer).toHaveCount(0)
  await expect(page).toHaveURL(/\/dashboard\/webhooks$/)

  // Filters by one Pipe, so that nothing from another test is resent.
  await page.goto(`/dashboard/webhooks?pipeId=${await makeRefusedPipe(demo)}`)
  await expect(page.getByRole('button', { name: 'Resend all undelivered…' })).toBeVisible()
  await press(page, 'Resend all undelivered…')
  await tabTo(page, 'Events from the last')
  await page.keyboard.press('ArrowUp')
  await press(page, 'Resend')
  await expect(page.getByRole('dialog')).toHaveCount(0)

  await press(page, 'Verify a signature')
  await expect(page.getByText('The request your receiver got')).toBeVisible()
  const { data: outputs } = await api<{ data: { id: string }[] }>(demo, 'GET', `/pipes/${pipe.id}/outputs`)
  await tabTo(page, 'Webhook output')
  await page.keyboard.type('Hooked by')
  await expect(page.getByLabel('Webhook output')).toHaveValue(outputs[0]!.id)
  const { data } = await api<{ data: { id: string }[] }>(demo, 'GET', `/deliveries?pipeId=${pipe.id}`)
  const sent = await api<WholeDelivery>(demo, 'GET', `/deliveries/${data[0]!.id}`)
  await tabTo(page, 'Headers')
  await page.keyboard.insertText(JSON.stringify(sent.attempts[0]!.requestHeaders))
  await tabTo(page, 'Raw body')
  await page.keyboard.insertText(sent.requestBody)
  await press(page, 'Compare')
  await expect(page.getByText('This webhook is from Sluice.')).toBeVisible()
  await page.keyboard.press('Shift+Tab')
  await page.keyboard.press('Shift+Tab')
  await expect(page.getByLabel('Raw body')).toBeFocused()
  await page.keyboard.type(' ')
  await press(page, 'Compare')
  await expect(page.getByText('A receiver must reject this webhook.')).toBeVisible()
})

test('filters keep the focus, and a file found with ⌘K is canceled, with the keyboard alone', {
  tag: '@long',
}, async ({ owner: page, demo }) => {
  const name = `keys-${Date.now()}.bin`
  await beginUpload(await tokenFor(demo.baseUrl, demo.senderToken, demo.pipeId), name)
  await page.goto('/dashboard/files')
  const search = 'Name, subject or id'
  await tabTo(page, search)
  await page.keyboard.type('keys-')
  await expect(page).toHaveURL(/search=keys-/)
  await expect(page.getByLabel(search)).toBeFocused()
  await tabTo(page, 'Status')
  await page.keyboard.type('up')
  await expect(page).toHaveURL(/status=uploading/)
  await expect(page.getByLabel('Status')).toBeFocused()
  await expect(page.getByRole('link', { name })).toBeVisible()
  await press(page, 'Clear')
  await expect(page).toHaveURL(/\/dashboard\/files$/)
  await press(page, 'Live')
  await expect(page.getByRole('button', { name: 'Paused' })).toBeFocused()

  await page.keyboard.press('ControlOrMeta+k')
  const find = page.getByRole('dialog', { name: 'Find anything' })
  await expect(find.getByRole('combobox')).toBeFocused()
  await page.keyboard.press('Escape')
  await expect(find).toHaveCount(0)
  await expect(page.getByRole('button', { name: 'Paused' })).toBeFocused()
  await page.keyboard.press('ControlOrMeta+k')
  await expect(find.getByRole('option', { name })).toBeVisible()
  // Types the name and presses Enter before any results arrive.
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>()
  await page.route('**/dashboard/**', async (route) => {
    if (route.request().method() === 'POST') await answered
    await route.continue()
  })
  await page.keyboard.type(name)
  await page.keyboard.press('Enter')
  answer()
  await expect(page.getByRole('heading', { name })).toBeVisible()

  await press(page, 'Cancel upload…')
  await press(page, 'Cancel the upload')
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await expect(page.getByText('canceled').first()).toBeVisible()
  await press(page, 'Erase record…')
  await tabTo(page, /to confirm$/)
  await page.keyboard.type(name)
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/\/dashboard\/files$/)
})

test('⌘K selects what it finds in the workspace before the documentation, unless the user has moved on', async ({
  owner: page,
  demo,
}) => {
  const fields = { name: 'Behind nginx', dataStoreId: demo.dataStoreId, source: { http: true } }
  await api(demo, 'POST', '/pipes', fields)
  const find = page.getByRole('dialog', { name: 'Find anything' })
  const selected = find.getByRole('option', { selected: true })
  for (const moves of [false, true]) {
    await page.goto('/dashboard/settings')
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>()
    await page.route('**/dashboard/**', async (route) => {
      if (route.request().method() === 'POST') await answered
      await route.continue()
    })
    await openPalette(page)
    await find.getByRole('combobox').fill('nginx')
    await expect(selected).toHaveAttribute('data-value', /^\/docs/)
    if (moves) await page.keyboard.press('ArrowDown')
    const before = (await selected.textContent())!
    answer()
    await expect(find.getByRole('option', { name: /^Behind nginx/ })).toBeVisible()
    await expect(selected).toHaveText(moves ? before : /^Behind nginx/)
    await page.unroute('**/dashboard/**')
  }
})

test('a Pipe is created, restricted and deleted with the keyboard alone', { tag: '@long' }, async ({
  owner: page,
}) => {
  await page.goto('/dashboard/pipes')
  await press(page, 'Create a Pipe')
  await expect(page.getByLabel('Name', { exact: true })).toBeFocused()
  await page.keyboard.type('Made by keys')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { name: 'Made by keys' })).toBeVisible()
  // From here, the next Settings link is the Pipe's, not the sidebar's.
  await tabTo(page, 'Connect')
  await press(page, 'Settings')
  await expect(page.getByLabel('Name', { exact: true })).toBeVisible()
  await press(page, 'Restrictions')
  await expect(page.getByLabel('Largest file')).toBeVisible()
  await tabTo(page, /^Largest file/)
  await page.keyboard.type('2')
  await tabTo(page, /^Allowed types/)
  await page.keyboard.type('image/*')
  await press(page, 'Save')
  // Waits for the request, which a reload would abort.
  await expect(page.getByText(/^Saved\./)).toBeVisible()
  await page.reload()
  await expect(page.getByLabel('Largest file')).toHaveValue('2')
  await expect(page.getByLabel('Allowed types')).toHaveValue('image/*')
  await tabTo(page, 'Connect')
  await press(page, 'Settings')
  await expect(page.getByRole('button', { name: 'Delete Pipe…' })).toBeVisible()
  await press(page, 'Delete Pipe…')
  await tabTo(page, /to confirm$/)
  // Until the full name is entered, the button is disabled and Enter does nothing.
  await page.keyboard.type('Made by')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('button', { name: 'Delete this Pipe' })).toBeDisabled()
  await page.keyboard.type(' keys')
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/\/dashboard\/pipes$/)
})

test('the Try it page uploads a file despite a cut connection, with the keyboard alone', {
  tag: '@long',
}, async ({ owner: page, demo }) => {
  await page.goto(`/dashboard/pipes/${demo.pipeId}/try`)
  const chooser = page.waitForEvent('filechooser')
  await press(page, 'Choose files')
  const file = { name: 'by-keys.bin', mimeType: 'text/plain', buffer: Buffer.alloc(6_000_000, 'keys ') }
  await (await chooser).setFiles(file)
  const wire = page.getByLabel('Requests and responses')
  await expect(wire).toContainText('PATCH → 204')
  await press(page, 'Cut connection')
  await expect(wire).toContainText('HEAD → 200')
  await expect(page.getByText('Uploaded', { exact: true })).toBeVisible()
  await press(page, 'Full timeline')
  await expect(page.getByRole('heading', { name: 'by-keys.bin' })).toBeVisible()
})
