import { beginUpload, tokenFor, uploadEmpty } from '../../test/support/begin-upload.ts'
import { api, expect, openPalette, test } from '../../test/support/browser.ts'
import { startReceiver } from '../../test/support/receiver.ts'

type Made = { id: string; token: string }

test('a Sender is rotated with an overlap, then its temporary token and the Sender are revoked', async ({
  owner: page,
  demo,
}) => {
  const sender = await api<Made>(demo, 'POST', '/senders', { name: 'to rotate' })
  await tokenFor(demo.baseUrl, sender.token, demo.pipeId)
  await page.goto(`/dashboard/senders/${sender.id}`)
  await page.getByRole('button', { name: 'Rotate' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click()
  const fresh = (await page.getByText(/^sk_\w{20,}$/).textContent())!
  expect(fresh).not.toBe(sender.token)
  await page.getByLabel('I have saved it').check()
  await page.getByRole('button', { name: 'Done' }).click()
  await expect(page.getByText('still valid, expires')).toBeVisible()
  expect((await tokenFor(demo.baseUrl, sender.token, demo.pipeId)).token).toMatch(/^tmp_/)
  expect((await tokenFor(demo.baseUrl, fresh, demo.pipeId)).token).toMatch(/^tmp_/)

  await page.reload()
  await page.getByRole('row').nth(1).getByRole('button', { name: 'Revoke' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
  await expect(page.getByRole('row').nth(1).getByText('revoked')).toBeVisible()

  await page.getByRole('button', { name: 'Revoke…' }).click()
  const confirm = page.getByRole('button', { name: 'Revoke this Sender' })
  await expect(confirm).toBeDisabled()
  await page.getByLabel(/to confirm/).fill('to rotate')
  await confirm.click()
  await expect(
    page.getByRole('heading', { name: 'to rotate' }).locator('..').getByText('revoked'),
  ).toBeVisible()
  expect((await tokenFor(demo.baseUrl, fresh, demo.pipeId)).token).toBeUndefined()
})

test('a warning appears when a Sender token was exposed in a browser', async ({ owner: page, demo }) => {
  const sender = await api<Made>(demo, 'POST', '/senders', { name: 'leaked' })
  const headers = {
    Authorization: `Bearer ${sender.token}`,
    'Tus-Resumable': '1.0.0',
    'Upload-Length': '1',
    Origin: 'https://shop.example',
  }
  const response = await fetch(`${demo.uploadUrl}/pipes/${demo.pipeId}/files/`, { method: 'POST', headers })
  expect(response.status).toBe(401)
  await page.goto(`/dashboard/senders/${sender.id}`)
  await expect(page.getByText('This token was exposed in a browser')).toBeVisible()
  await expect(page.getByText('https://shop.example')).toBeVisible()

  // The warning disappears along with the old token, while the new token is still shown.
  await page.getByRole('button', { name: 'Rotate' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click()
  await expect(page.getByText(/^sk_\w{20,}$/)).toBeVisible()
  await page.getByLabel('I have saved it').check()
  await page.getByRole('button', { name: 'Done' }).click()
  await expect(page.getByText('This token was exposed in a browser')).toBeHidden()
})

test('a test event is sent, resent, and the secret is revealed and rotated', async ({
  owner: page,
  demo,
}) => {
  const store = demo.dataStoreId
  const pipe = await api<{ id: string }>(demo, 'POST', '/pipes', {
    name: 'Hooked',
    dataStoreId: store,
    source: { http: true },
  })
  await page.goto(`/dashboard/pipes/${pipe.id}`)
  await page.getByLabel('Address').fill('ftp://nowhere')
  await page.getByRole('button', { name: 'Switch on' }).click()
  await expect(page.getByLabel('Address')).toBeFocused()
  await expect(page.getByText(/Is not allowed/)).toBeVisible()
  await page.getByRole('button', { name: 'Use your inbox' }).click()
  await page.getByRole('button', { name: 'Switch on' }).click()
  await page.getByLabel('I have saved it').check()
  await page.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('button', { name: 'Reveal' }).click()
  const first = await page.getByText(/^whsec_.{20,}/).textContent()
  await page.getByRole('button', { name: 'Rotate' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click()
  await expect(page.getByText(first!)).toHaveCount(0)
  await expect(page.getByText('Requests are also signed with the previous secret')).toBeVisible()

  await page.getByRole('button', { name: 'Send a test' }).click()
  const drawer = page.getByRole('dialog', { name: 'Delivery' })
  await expect(drawer.getByText('delivered')).toBeVisible()
  // The page updates live, without a reload.
  const attempts = drawer.getByRole('list', { name: 'Attempts' }).getByRole('listitem')
  await expect(attempts).toHaveCount(1)
  await drawer.getByRole('button', { name: 'Resend' }).click()
  await expect(attempts).toHaveCount(2)
  await expect(drawer.getByText('delivered')).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(page).toHaveURL(/\/dashboard\/webhooks$/)
})

test('all undelivered events are resent', async ({ owner: page, demo }) => {
  const pipe = await api<{ id: string }>(demo, 'POST', '/pipes', {
    name: 'Refused',
    dataStoreId: demo.dataStoreId,
    source: { http: true },
  })
  // 410 Gone is the only response that is never retried; it turns the webhook off.
  const receiver = await startReceiver(410)
  const switchOn = () =>
    api(demo, 'PUT', `/pipes/${pipe.id}/webhook`, { url: receiver.url, enabled: true, statuses: [] })
  const token = await tokenFor(demo.baseUrl, demo.senderToken, pipe.id)
  await page.goto(`/dashboard/webhooks?pipeId=${pipe.id}`)
  const shown = (state: string) => page.getByRole('table').getByText(state, { exact: true })
  for (const count of [1, 2]) {
    await switchOn()
    await uploadEmpty(token, `refused-${count}`)
    await expect(shown('failed')).toHaveCount(count)
  }
  await switchOn()
  receiver.answerWith(204)
  await expect(page.getByText('Failed (2)')).toBeVisible()
  await page.getByRole('button', { name: 'Resend all undelivered…' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Resend' }).click()
  await expect(page.getByText('2 events sent again.')).toBeVisible()
  await expect(shown('delivered')).toHaveCount(2)
  const bodies = receiver.received.map(({ body }) => body)
  expect(bodies).toHaveLength(4)
  expect(bodies.slice(2).sort()).toEqual(bodies.slice(0, 2).sort())

  // A delivery that is being retried is shown, and can be resent without waiting.
  receiver.answerWith(500)
  await uploadEmpty(token, 'retried')
  await expect(shown('retrying')).toBeVisible()
  await expect(page.getByText(/^Retrying \(1\), next in \d+ s$/)).toBeVisible()
  receiver.answerWith(204)
  await page.getByRole('button', { name: 'Resend all undelivered…' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Resend' }).click()
  await expect(page.getByText('1 event sent again.')).toBeVisible()
  await expect(shown('delivered')).toHaveCount(3)
  await receiver.stop()
})

test('events missed while the webhook was off can be sent once it is on', async ({ owner: page, demo }) => {
  const pipe = await api<{ id: string }>(demo, 'POST', '/pipes', {
    name: 'Off for a while',
    dataStoreId: demo.dataStoreId,
    source: { http: true },
  })
  const receiver = await startReceiver()
  const turn = (enabled: boolean) =>
    api(demo, 'PUT', `/pipes/${pipe.id}/webhook`, { url: receiver.url, enabled, statuses: [] })
  await turn(false)
  await uploadEmpty(await tokenFor(demo.baseUrl, demo.senderToken, pipe.id), 'missed')
  await page.goto(`/dashboard/pipes/${pipe.id}`)
  const missed = page.getByText('1 event not sent')
  const send = page.getByRole('button', { name: 'Send them now' })
  await expect(missed).toBeVisible()
  await expect(send).toHaveCount(0)

  await turn(true)
  await page.reload()
  await send.click()
  await expect(missed).toHaveCount(0)
  await expect
    .poll(() => receiver.received.map(({ body }) => JSON.parse(body).data.filename))
    .toEqual(['missed'])
  await receiver.stop()
})

test('log filters are kept in the address, and live updates can be paused', async ({ owner: page, demo }) => {
  const pipe = await api<{ id: string }>(demo, 'POST', '/pipes', {
    name: 'Logged',
    dataStoreId: demo.dataStoreId,
    source: { http: true },
  })
  const { url } = await api<{ url: string }>(demo, 'GET', `/pipes/${demo.pipeId}/webhook`)
  await api(demo, 'PUT', `/pipes/${pipe.id}/webhook`, { url, enabled: true, statuses: [] })
  const send = () => api(demo, 'POST', `/pipes/${pipe.id}/webhook/test`)
  await page.goto(`/dashboard/webhooks?pipeId=${pipe.id}`)
  await expect(page.getByText('Nothing matches these filters')).toBeVisible()
  const shown = page.getByRole('table').getByText('test', { exact: true })
  await send()
  await expect(shown).toHaveCount(1)
  await page.getByRole('button', { name: 'Live' }).click()
  await expect(page.getByRole('button', { name: 'Paused' })).toHaveAttribute('aria-pressed', 'true')
  await send()
  // The paused page does not show the new event, even after another page does.
  const other = await page.context().newPage()
  await other.goto(`/dashboard/webhooks?pipeId=${pipe.id}`)
  await expect(other.getByRole('table').getByText('delivered')).toHaveCount(2)
  await other.close()
  await expect(shown).toHaveCount(1)
  await page.getByRole('button', { name: 'Paused' }).click()
  await expect(shown).toHaveCount(2)

  await page.getByLabel('State').selectOption('delivered')
  await expect(page).toHaveURL(/state=delivered/)
  await expect(shown).toHaveCount(2)
  await page.reload()
  await expect(page.getByLabel('State')).toHaveValue('delivered')
  await page.getByLabel('State').selectOption('failed')
  await expect(page.getByText('Nothing matches these filters')).toBeVisible()
  await page.goBack()
  await expect(shown).toHaveCount(2)
})

test('file filters are kept in the address, and ⌘K finds existing resources', async ({
  owner: page,
  demo,
}) => {
  const name = `needle-${Date.now()}.bin`
  await beginUpload(await tokenFor(demo.baseUrl, demo.senderToken, demo.pipeId), name)
  await page.goto('/dashboard/files')
  await page.getByLabel('Status').selectOption('uploading')
  await expect(page).toHaveURL(/status=uploading/)
  await page.getByLabel('Name, subject or id').fill('needle ')
  await expect(page).toHaveURL(/search=needle/)
  // Text typed after the address has changed is preserved.
  await page.getByLabel('Name, subject or id').pressSequentially('x')
  await expect(page.getByLabel('Name, subject or id')).toHaveValue('needle x')
  await expect(page).toHaveURL(/search=needle(\+|%20)x/)
  await page.getByLabel('Name, subject or id').fill('needle')
  await expect(page).toHaveURL(/search=needle(&|$)/)
  await page.reload()
  await expect(page.getByLabel('Status')).toHaveValue('uploading')
  await expect(page.getByRole('link', { name })).toBeVisible()
  await page.getByLabel('Status').selectOption('transferred')
  await expect(page.getByText('Nothing matches these filters')).toBeVisible()
  await page.goBack()
  await expect(page.getByRole('link', { name })).toBeVisible()

  await openPalette(page)
  const find = page.getByRole('dialog', { name: 'Find anything' })
  await find.getByRole('combobox').fill('Demo Pi')
  await expect(find.getByRole('option', { name: /Demo Pipe/ })).toBeVisible()
  await find.getByRole('combobox').fill(name)
  await find.getByRole('option', { name }).click()
  await expect(page.getByRole('heading', { name })).toBeVisible()
  await page.getByRole('button', { name: 'Cancel upload…' }).click()
  await page.getByRole('button', { name: 'Cancel the upload' }).click()
  await expect(page.getByText('canceled').first()).toBeVisible()
})

test('⌘K opens the form for a new Sender every time, even on the Senders page', async ({ owner: page }) => {
  await page.goto('/dashboard/senders')
  for (let time = 0; time < 2; time += 1) {
    await openPalette(page)
    await page.getByRole('dialog', { name: 'Find anything' }).getByRole('combobox').fill('Create a Se')
    await page.getByRole('option', { name: 'Create a Sender' }).click()
    const dialog = page.getByRole('dialog', { name: 'Create a Sender' })
    await expect(dialog.getByLabel('Name')).toBeFocused()
    await page.keyboard.press('Escape')
    await expect(dialog).toHaveCount(0)
    await expect(page).toHaveURL(/\/dashboard\/senders$/)
  }
})

test("a Pipe's danger zone explains the consequences and requires the name", async ({
  owner: page,
  demo,
}) => {
  const pipe = await api<{ id: string }>(demo, 'POST', '/pipes', {
    name: 'Doomed',
    dataStoreId: demo.dataStoreId,
    source: { http: true },
  })
  const token = await tokenFor(demo.baseUrl, demo.senderToken, pipe.id)
  for (const name of ['a', 'b', 'c']) await beginUpload(token, name)
  await page.goto(`/dashboard/pipes/${pipe.id}/settings`)
  await page.getByRole('button', { name: 'Delete Pipe…' }).click()
  await expect(page.getByText('3 uploads in progress will be canceled.')).toBeVisible()
  await page.getByLabel(/to confirm/).fill('doomed')
  await expect(page.getByRole('button', { name: 'Delete this Pipe' })).toBeDisabled()
  await page.getByLabel(/to confirm/).fill('Doomed')
  await page.getByRole('button', { name: 'Delete this Pipe' }).click()
  await expect(page).toHaveURL(/\/dashboard\/pipes$/)
  await expect(page.getByRole('link', { name: 'Doomed' })).toHaveCount(0)
  await page.goto(`/dashboard/data-stores/${demo.dataStoreId}`)
  await page.getByRole('button', { name: 'Delete…' }).click()
  await page.getByLabel(/to confirm/).fill('Bucket on this server')
  await page.getByRole('button', { name: 'Delete this Data Store' }).click()
  await expect(page.getByText(/Used by “/)).toBeVisible()
})

test('failing keys do not replace working ones unless the user saves them anyway', async ({
  owner: page,
  demo,
}) => {
  const { name: bucket, endpoint, region, accessKeyId, secretAccessKey } = demo.bucket
  const fields = { name: 'Kept', provider: 'other', endpoint, region, bucket, forcePathStyle: true }
  const store = await api<{ id: string }>(demo, 'POST', '/data-stores', {
    ...fields,
    accessKeyId,
    secretAccessKey,
  })
  const kept = async () => {
    const { check } = await api<{ check: { ok: boolean } | null }>(
      demo,
      'POST',
      `/data-stores/${store.id}/check`,
    )
    return check?.ok
  }
  await page.setViewportSize({ width: 1280, height: 600 })
  await page.goto(`/dashboard/data-stores/${store.id}`)
  await page.getByLabel('Secret access key').fill('notthesecret')
  await page.getByRole('button', { name: 'Check and save' }).click()
  await expect(page.getByText('Not saved: uploads could not go to this bucket.')).toBeInViewport()
  await expect(page.getByText(/^Saved/)).toHaveCount(0)
  expect(await kept()).toBe(true)

  await page.getByRole('button', { name: 'Save anyway' }).click()
  await expect(page.getByText('Uploads cannot go to this bucket yet.')).toBeInViewport()
  expect(await kept()).toBe(false)

  // An upload that the bucket refuses is reported on every affected page, until the bucket accepts uploads again.
  const pipe = await api<{ id: string }>(demo, 'POST', '/pipes', {
    name: 'Into nothing',
    dataStoreId: store.id,
    source: { http: true },
  })
  const token = await tokenFor(demo.baseUrl, demo.senderToken, pipe.id)
  await uploadEmpty(token, 'rejected').catch(() => undefined)
  for (const path of ['', '/files', `/pipes/${pipe.id}`, '/data-stores']) {
    await page.goto(`/dashboard${path}`)
    await expect(page.getByText('Kept started rejecting uploads')).toBeVisible()
    await expect(page.getByRole('alert').getByText(/SignatureDoesNotMatch/)).toBeVisible()
  }
  await page.getByRole('link', { name: 'Check the bucket' }).click()

  await page.getByLabel('Secret access key').fill(secretAccessKey)
  await page.getByRole('button', { name: 'Check and save' }).click()
  await expect(page.getByText('Uploads can go to this bucket.')).toBeInViewport()
  expect(await kept()).toBe(true)
  await expect(page.getByText('started rejecting uploads')).toHaveCount(0)
})
