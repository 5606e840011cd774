import { expectAccessible } from '../../test/support/axe.ts'
import { api, expect, test } from '../../test/support/browser.ts'
import { openDecider } from '../../test/support/decider.ts'

test('a decision hook is set up, tested, switched off and deleted', async ({ owner: page, demo }) => {
  const decider = await openDecider()
  const { name: bucket, endpoint, region, reader } = demo.bucket
  const place = { provider: 'other', endpoint, region, bucket, forcePathStyle: true }
  const fields = { ...place, name: 'decided', prefix: 'decided/', ...reader }
  const store = await api<{ id: string }>(demo, 'POST', '/data-stores', fields)
  const pipe = await api<{ id: string }>(demo, 'POST', '/pipes', { name: 'decided', dataStoreId: store.id })
  await page.goto(`/dashboard/pipes/${pipe.id}`)
  await page.getByRole('link', { name: 'Decisions' }).click()
  const panel = page.getByRole('region', { name: 'Before there is an object' })

  await panel.getByLabel('Address').fill(decider.url)
  await panel.getByLabel('Seconds for an answer').fill('99')
  await panel.getByRole('button', { name: 'Switch on' }).click()
  await expect(panel.getByText('must be at most 30')).toBeVisible()
  await panel.getByLabel('Seconds for an answer').fill('2')
  await panel.getByLabel('Without an answer').selectOption('allow')
  await panel.getByRole('button', { name: 'Switch on' }).click()
  const secret = page.getByRole('dialog', { name: 'Your hook secret' })
  await expect(secret.getByText(/^whsec_/)).toBeVisible()
  await secret.getByLabel('I have saved it').check()
  await secret.getByRole('button', { name: 'Done' }).click()
  await expect(panel.getByRole('switch')).toBeChecked()

  await panel.getByRole('button', { name: 'Send a test' }).click()
  await expect(panel.getByText('{"allow":true}')).toBeVisible()
  decider.answer = () => ({ allow: 'perhaps' })
  await panel.getByRole('button', { name: 'Send a test' }).click()
  await expect(panel.getByText(/No answer, after \d+ ms/)).toBeVisible()
  await expectAccessible(page, 'decision hooks')
  await page.setViewportSize({ width: 360, height: 800 })
  await expectAccessible(page, 'decision hooks on a phone')

  await panel.getByRole('switch').click()
  await expect(panel.getByRole('switch')).not.toBeChecked()
  type Hooks = { data: object[] }
  const hooks = () => api<Hooks>(demo, 'GET', `/pipes/${pipe.id}/hooks`)
  await expect
    .poll(async () => (await hooks()).data)
    .toMatchObject([{ hook: 'before_complete', enabled: false, timeoutSeconds: 2, withoutAnswer: 'allow' }])
  await panel.getByRole('button', { name: 'Delete this hook' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await expect(panel.getByText('Off until you give it an address.')).toBeVisible()
  expect((await hooks()).data).toEqual([])
  await decider.close()
})
