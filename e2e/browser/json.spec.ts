import { makeRefusedPipe } from '../../test/support/addresses.ts'
import { api, expect, openPalette, test } from '../../test/support/browser.ts'

test('a file, its event and its webhook are shown as JSON, and ⌘K finds each by its id', {
  tag: '@long',
}, async ({ owner: page, demo }) => {
  const pipeId = await makeRefusedPipe(demo)
  const { data } = await api<{ data: { id: string; eventId: string; fileId: string }[] }>(
    demo,
    'GET',
    `/deliveries?pipeId=${pipeId}`,
  )
  const { id, eventId, fileId } = data[0]!
  await page.goto(`/dashboard/files/${fileId}`)
  await page.getByRole('button', { name: 'JSON' }).click()
  const file = page.getByRole('dialog', { name: 'JSON of this file' })
  const shown = JSON.parse((await file.locator('pre').textContent())!)
  expect(shown).toMatchObject({ id: fileId, pipeId, status: 'transferred', timeline: expect.any(Array) })
  await expect(file.getByRole('button', { name: /Copy/ })).toBeVisible()
  await page.keyboard.press('Escape')

  const find = async (text: string, option: string | RegExp) => {
    await openPalette(page)
    await page.getByRole('dialog', { name: 'Find anything' }).getByRole('combobox').fill(text)
    // Other tests create files with the same name, so the option is identified by its address.
    if (typeof option === 'string') await page.locator(`[role=option][data-value*="${option}"]`).click()
    else await page.getByRole('option', { name: option }).click()
  }
  await find(eventId, /^Webhook to/)
  await expect(page).toHaveURL(new RegExp(`delivery=${id}`))
  const drawer = page.getByRole('dialog', { name: 'Delivery' })
  await drawer.getByRole('button', { name: 'JSON' }).last().click()
  const event = page.getByRole('dialog', { name: 'JSON of this event' })
  expect(JSON.parse((await event.locator('pre').textContent())!)).toMatchObject({
    id: eventId,
    payload: { data: { file_id: fileId } },
    deliveries: [{ id }],
  })
  expect((await page.request.get(`/dashboard/json/delivery/${id}`)).status()).toBe(200)
  expect((await page.request.get(`/dashboard/json/delivery/${eventId}`)).status()).toBe(404)
  expect((await page.request.get(`/dashboard/json/constructor/${id}`)).status()).toBe(404)

  await page.goto('/dashboard')
  await find(fileId, fileId)
  await expect(page.getByRole('heading', { name: 'refused' })).toBeVisible()
  await find('retry', /Resend all undelivered/)
  await expect(page.getByRole('dialog', { name: 'Resend all undelivered' })).toBeVisible()
})
