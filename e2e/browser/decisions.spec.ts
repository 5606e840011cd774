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
  await page.getByRole('main').getByRole('link', { name: 'Settings' }).click()
  await page.getByRole('link', { name: 'Decisions' }).click()
  const panel = page.getByRole('region', { name: 'Before the object is created' })

  await panel.getByLabel('Address').fill(decider.url)
  await panel.getByLabel('Seconds to wait for a response').fill('99')
  await panel.getByRole('button', { name: 'Switch on' }).click()
  await expect(panel.getByText('must be at most 30')).toBeVisible()
  await panel.getByLabel('Seconds to wait for a response').fill('2')
  await panel.getByLabel('Without a response').selectOption('allow')
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
  await expect(panel.getByText(/No response after \d+ ms/)).toBeVisible()
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
  await expect(panel.getByText('The hook is off until you enter an address.')).toBeVisible()
  expect((await hooks()).data).toEqual([])
  await decider.close()
})

test('deferred files are allowed or rejected on their page or together in the list', {
  tag: '@long',
}, async ({ owner: page, demo }) => {
  test.slow()
  const decider = await openDecider()
  decider.answer = () => ({ defer: true })
  const { name: bucket, endpoint, region, reader } = demo.bucket
  const place = { provider: 'other', endpoint, region, bucket, forcePathStyle: true }
  const fields = { ...place, name: 'waiting', prefix: 'waiting/', ...reader }
  const store = await api<{ id: string }>(demo, 'POST', '/data-stores', fields)
  const named = { name: 'waiting', dataStoreId: store.id, source: { http: true } }
  const pipe = await api<{ id: string }>(demo, 'POST', '/pipes', named)
  const hook = { url: decider.url, enabled: true, timeoutSeconds: 2, withoutAnswer: 'refuse' }
  await api(demo, 'PUT', `/pipes/${pipe.id}/hooks/before_complete`, hook)
  const { url } = await api<{ url: string }>(demo, 'GET', `/pipes/${demo.pipeId}/webhook`)
  const webhook = { url, enabled: true, statuses: [], events: ['batch.completed'] }
  await api(demo, 'PUT', `/pipes/${pipe.id}/webhook`, webhook)
  const issued = await fetch(`${demo.baseUrl}/api/v1/tokens`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${demo.senderToken}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ pipeId: pipe.id, batch: 'order-17' }),
  })
  const { token, uploadUrl } = (await issued.json()) as { token: string; uploadUrl: string }
  const send = async (name: string) => {
    const sent = await fetch(`${uploadUrl}${name}`, {
      method: 'PUT',
      headers: { Authorization: `Bearer ${token}` },
      body: 'Hello',
    })
    return ((await sent.json()) as { id: string }).id
  }
  const names = ['good.txt', 'bad.txt', 'one.txt', 'two.txt', 'three.txt']
  const [good, bad, ...queued] = await Promise.all(names.map(send))
  const button = (name: string) => page.getByRole('main').getByRole('button', { name })

  await page.goto(`/dashboard/files/${bad}`)
  await expect(page.getByText('This file awaits a decision')).toBeVisible()
  await button('Reject…').click()
  const dialog = page.getByRole('dialog', { name: 'Reject this file' })
  await dialog.getByLabel('Reason').fill('It has a virus.')
  await expectAccessible(page, 'rejecting a file')
  await dialog.getByRole('button', { name: 'Reject the file' }).click()
  await expect(page.getByRole('main').getByText('It has a virus.').first()).toBeVisible()
  await expect(button('Allow')).toHaveCount(0)

  await page.goto(`/dashboard/files/${good}`)
  await button('Allow').click()
  type Shown = { status: string; decision: { state: string; decidedBy: string } }
  const shown = (id: string | undefined) => api<Shown>(demo, 'GET', `/files/${id}`)
  await expect
    .poll(() => shown(good))
    .toMatchObject({ status: 'transferred', decision: { state: 'allowed', decidedBy: 'dashboard' } })
  expect(await shown(bad)).toMatchObject({ status: 'failed', decision: { state: 'rejected' } })

  await page.goto(`/dashboard/files?pipeId=${pipe.id}`)
  await page.getByLabel('Status').selectOption('awaiting decision')
  await expect(page.getByRole('table').getByText('awaiting decision')).toHaveCount(3)
  await expectAccessible(page, 'files that await a decision')
  const choose = (name: string) => page.getByLabel(`Select ${name}`)
  await choose('one.txt').check()
  await choose('two.txt').check()
  await page.getByRole('button', { name: 'Allow 2 files' }).click()
  await expect(page.getByText('2 files allowed.')).toBeVisible()
  await choose('three.txt').check()
  await page.getByRole('button', { name: 'Reject…' }).click()
  const reason = page.getByRole('dialog', { name: 'Reject this file' })
  await reason.getByLabel('Reason').fill('It is empty.')
  await reason.getByRole('button', { name: 'Reject the file' }).click()
  await expect(page.getByText('Nothing matches these filters')).toBeVisible()
  const states = await Promise.all(queued.map(async (id) => (await shown(id)).decision.state))
  expect(states.sort()).toEqual(['allowed', 'allowed', 'rejected'])
  await page.getByLabel('Status').selectOption('rejected')
  await expect(page.getByRole('link', { name: 'three.txt' })).toBeVisible()
  await expect(page.getByRole('link', { name: 'bad.txt' })).toBeVisible()
  await page.goto(`/dashboard/files/${good}`)

  await page.getByRole('link', { name: 'order-17' }).click()
  await expect(page.getByRole('link', { name: 'good.txt' })).toBeVisible()
  await expect(page.getByRole('link', { name: 'bad.txt' })).toBeVisible()
  await expect(page.getByRole('heading', { name: 'order-17' })).toBeVisible()
  const batch = page.getByRole('main')
  await expect(batch).toContainText('5 of 5 files have ended')
  await expect(batch).toContainText('It accepts files until it is sealed.')
  await expectAccessible(page, 'a batch')
  await button('Seal…').click()
  await page.getByRole('dialog').getByRole('button', { name: 'Seal the batch' }).click()
  await expect(page.getByText('The batch is sealed.')).toBeVisible()
  await expect(button('Seal…')).toHaveCount(0)
  await expect(async () => {
    await page.reload()
    await expect(batch).toContainText('All files have ended', { timeout: 1000 })
  }).toPass()
  await expect(page).toHaveTitle(/^order-17 · Batches/)
  await page.goto(`/dashboard/webhooks?pipeId=${pipe.id}`)
  await page.getByRole('link', { name: 'batch.completed' }).click()
  await page.getByRole('dialog').getByRole('link', { name: 'order-17' }).click()
  await batch.getByRole('link', { name: '2 failed' }).click()
  await expect(page.getByRole('link', { name: 'good.txt' })).toHaveCount(0)
  await expect(page.getByRole('link', { name: 'bad.txt' })).toBeVisible()
  await decider.close()
})
