import { tokenFor, uploadEmpty } from '../../test/support/begin-upload.ts'
import { api, expect, test } from '../../test/support/browser.ts'
import { startReceiver } from '../../test/support/receiver.ts'

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
  await page.goto(`/dashboard/pipes/${pipe.id}/webhooks`)
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

test('all undelivered events are resent', { tag: '@long' }, async ({ owner: page, demo }) => {
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
  await expect(page.getByText('2 failed', { exact: true })).toBeVisible()
  await page.getByRole('button', { name: 'Resend all undelivered…' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Resend' }).click()
  await expect(page.getByText('2 events sent again.')).toBeVisible()
  await expect(shown('delivered')).toHaveCount(2)
  const bodies = receiver.received.map(({ body }) => body)
  expect(bodies).toHaveLength(4)
  expect(bodies.slice(2).sort()).toEqual(bodies.slice(0, 2).sort())

  // A delivery that is being retried is shown, and can be resent without waiting.
  const fail: Parameters<typeof receiver.answerWith>[0] = (_, res) =>
    res.writeHead(503, { 'Retry-After': '600' }).end()
  receiver.answerWith(fail)
  await uploadEmpty(token, 'retried')
  await expect(shown('retrying')).toBeVisible()
  await expect(page.getByText(/^1 retrying, next attempt in \d+ min/)).toBeVisible()
  const files = await api<{ data: { id: string }[] }>(demo, 'GET', `/files?pipeId=${pipe.id}`)
  await page.goto(`/dashboard/files/${files.data[0]!.id}`)
  await expect(page.getByText(/has not accepted the webhook$/)).toBeVisible()
  await expect(page.getByText('It responded with 503.')).toBeVisible()
  await page.getByRole('link', { name: 'Change the endpoint' }).click()
  await expect(page.getByLabel('Address')).toHaveValue(receiver.url)
  await page.goBack()
  receiver.answerWith(204)
  await page.getByRole('button', { name: /^Resend/ }).click()
  await expect(page.getByText(/^Webhook delivered: 204/)).toBeVisible()
  await expect(page.getByText(/has not accepted/)).toHaveCount(0)

  receiver.answerWith(fail)
  await uploadEmpty(token, 'retried again')
  await page.goto(`/dashboard/webhooks?pipeId=${pipe.id}`)
  await expect(shown('retrying')).toBeVisible()
  receiver.answerWith(204)
  await page.getByRole('button', { name: 'Resend all undelivered…' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Resend' }).click()
  await expect(page.getByText('1 event sent again.')).toBeVisible()
  await expect(shown('delivered')).toHaveCount(4)
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
  await page.goto(`/dashboard/pipes/${pipe.id}/webhooks`)
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
