import { writeFileSync } from 'node:fs'
import type { Page } from 'playwright/test'
import { formatBytes } from '#components/format.ts'
import { expectAccessible, expectAccessibleInLight } from '../../test/support/axe.ts'
import { api, expect, test } from '../../test/support/browser.ts'
import { openCustomer, revokeNewest } from '../../test/support/customer.ts'

const MIB = 1024 * 1024
/** More than Uppy keeps across a reload by default. */
const KEPT_BYTES = 12 * MIB
/** The larger size leaves `npm run drill -- axe` time to check each mode and width. */
const TRIAL_BYTES = (process.env.AXE_THOROUGH ? 48 : 12) * MIB
const bytes = (length: number) => Buffer.from(Array.from({ length }, (_, at) => (at * 7919) % 251))
const file = (name: string, size: number) => ({
  name,
  mimeType: 'application/octet-stream',
  buffer: bytes(size),
})
const figure = async (page: Page, name: string) =>
  Number(await page.locator(`[data-figure=${name}]`).getAttribute('data-value'))

/** Waits for one more resume than `before`, and for bytes sent after it, because only then is it counted. */
async function resumed(page: Page, before: number): Promise<void> {
  await expect
    .poll(async () => {
      const lines = (await linesOf(page)).join('\n').split('HEAD → 200')
      return lines.length - 1 > before && lines.at(-1)!.includes('PATCH → 204')
    })
    .toBe(true)
}

const linesOf = async (page: Page) =>
  (await page.getByLabel('Requests and responses').locator('li').allTextContents()).toReversed()
const headsOf = async (page: Page) =>
  (await linesOf(page)).filter((line) => line.includes('HEAD → 200')).length

test('a Try it upload resumes after a lost connection, an offline period, an expired and a revoked token, and a reload', async ({
  owner: page,
  demo,
}) => {
  await page.clock.install()
  await page.goto(`/dashboard/pipes/${demo.pipeId}/try`)
  const trial = test.info().outputPath('trial.bin')
  writeFileSync(trial, Buffer.alloc(TRIAL_BYTES, 'a trial '))
  for (const name of ['Cut connection', 'Expire token', 'Revoke token'])
    await expect(page.getByRole('button', { name })).toBeDisabled()
  await page.getByLabel('Choose files').setInputFiles(trial)
  const wire = page.getByLabel('Requests and responses')
  await expect.poll(() => figure(page, 'confirmed')).toBeGreaterThan(0)

  await page.getByRole('button', { name: 'Pause trial.bin' }).click()
  await expect(page.getByText(/^Paused at /).first()).toBeVisible()
  await page.getByRole('button', { name: 'Resume trial.bin' }).click()
  await resumed(page, 0)
  await expect(wire).not.toContainText('→ 412')

  let heads = await headsOf(page)
  await page.getByRole('button', { name: 'Cut connection' }).click()
  await expect(wire).toContainText('the connection was cut')
  await resumed(page, heads)
  await expect.poll(() => figure(page, 'saved')).toBeGreaterThan(0)
  await page.getByRole('button', { name: 'Go offline' }).click()
  await expect(page.getByText('Waiting for the network. Retrying automatically.').last()).toBeVisible()
  heads = await headsOf(page)
  for (let seconds = 0; seconds < 60; seconds += 5) await page.clock.runFor(5000)
  await page.getByRole('button', { name: 'Go online' }).click()
  await resumed(page, heads)

  await page.getByRole('button', { name: 'Expire token' }).click()
  await expect(wire).toContainText('the token expired')
  const expired = await figure(page, 'confirmed')
  await expect.poll(() => figure(page, 'confirmed')).toBeGreaterThan(expired)

  // The timeline opens beside the upload, which would stop if its page were left.
  const [timeline] = await Promise.all([
    page.waitForEvent('popup'),
    page.getByRole('link', { name: 'Full timeline' }).click(),
  ])
  await expect(timeline.getByRole('heading', { name: 'trial.bin' })).toBeVisible()
  await timeline.close()

  heads = await headsOf(page)
  await page.getByRole('button', { name: 'Revoke token' }).click()
  await expect(wire).toContainText('→ 401')
  await expect(wire).toContainText('a new token')
  await resumed(page, heads)
  // The list has more lines than it shows at once, so it scrolls.
  expect((await linesOf(page)).length).toBeGreaterThan(12)
  await expectAccessibleInLight(page, 'Try it while it uploads')
  await page.reload()
  await expect(wire).toContainText('HEAD → 200')
  await page.getByLabel('Slow connection').uncheck()
  await expect(page.getByText('Uploaded', { exact: true })).toBeVisible({ timeout: 30_000 })
  expect(await figure(page, 'confirmed')).toBe(TRIAL_BYTES)
  expect(await figure(page, 'saved')).toBeGreaterThan(0)
  await expect(page.getByText('transferred')).toBeVisible()
  await expect(page.getByText('delivered', { exact: true })).toBeVisible()

  const [resumes, saved] = [await figure(page, 'resumes'), await figure(page, 'saved')]
  // The pause, the interruption, the offline period, the revoked token and the reload each count as a resume, because
  // bytes were sent between them.
  expect(resumes).toBe(5)

  await page.getByRole('link', { name: 'Full timeline' }).click()
  const told = page.locator('dt', { hasText: 'Resumes' }).locator('xpath=following-sibling::dd')
  await expect(told).toHaveText(`${resumes}, ${formatBytes(saved)} saved`)
  await expect(page.getByText(/^Resumed at/)).toHaveCount(resumes)
  await expect(page.getByText('Upload created')).toBeVisible()
  await expect(page.getByText('In the bucket')).toBeVisible()
  await expect(page.getByText(/Webhook delivered: 2/)).toBeVisible()

  const drawing = page.getByRole('main').locator('figure')
  await expect(drawing.getByTitle(/^Interrupted|then the connection was lost/)).toHaveCount(resumes)
  await expect(drawing.getByTitle(/^Webhook delivered: 2/)).toBeVisible()
  await expectAccessible(page, 'a file that was resumed')
})

test("the embedded uploader resumes after a lost connection, an expired and a revoked token, and a reload, on another origin's page", {
  tag: '@long',
}, async ({ owner, demo }) => {
  test.setTimeout(120_000)
  const customer = await openCustomer(demo)
  const { page, line, site, backend, confirmed } = customer
  const name = `embedded-${Date.now()}.bin`
  await page.locator('.uppy-Dashboard-input').first().setInputFiles(file(name, KEPT_BYTES))
  // The first token expires immediately, so it is not sent with the request after the creation.
  const issue = backend.post
  backend.post = async () => {
    backend.post = issue
    return Response.json({ ...(await (await issue()).json()), expiresAt: new Date().toISOString() })
  }
  let held = line.holdAfter(2 * MIB)
  await page.getByRole('button', { name: 'Upload 1 file' }).click()
  await held
  expect(site.tokensAsked()).toBe(2)

  // Interrupted: the bytes received are kept, the client requests the offset, and the shown progress does not start
  // over.
  held = line.holdAfter(2 * MIB)
  line.cut()
  await held
  await expect.poll(confirmed).toBeGreaterThan(0)
  const afterCut = confirmed()
  await expect(page.getByText(/Uploading: ([2-9]\d|100)%/)).toBeVisible()

  // Revoked: the client does not know about this, but loses no bytes.
  await revokeNewest(demo, customer.pipeId)
  held = line.holdAfter(2 * MIB)
  line.cut()
  await held
  // The responses to the browser are recorded here slightly later.
  await expect.poll(confirmed).toBeGreaterThan(afterCut)
  const afterRevoked = confirmed()
  await expect(page.getByText(/Uploading: ([4-9]\d|100)%/)).toBeVisible()

  // Reloaded: the file and its progress are remembered.
  line.flow()
  await page.reload()
  const goOn = page.locator('.uppy-StatusBar-actionBtn--upload, .uppy-Dashboard-serviceMsg-actionBtn').first()
  await goOn.click()
  await expect(page.getByText('Complete', { exact: true })).toBeVisible({ timeout: 30_000 })
  await expect.poll(confirmed).toBeGreaterThan(afterRevoked)
  expect(customer.refusals()).toBe(1)
  await customer.close()

  // The file page shows how many bytes were saved.
  const { data } = await api<{ data: { id: string; status: string; size: number }[] }>(
    demo,
    'GET',
    `/files?filename=${name}`,
  )
  expect(data).toMatchObject([{ status: 'transferred', size: KEPT_BYTES }])
  await owner.goto(`/dashboard/files/${data[0]!.id}`)
  const saved = owner.locator('dt', { hasText: 'Resumes' }).locator('xpath=following-sibling::dd')
  await expect(saved).toHaveText(/^3, [\d.]+ MB saved$/)
  await expect(owner.getByText(/^Resumed at/)).toHaveCount(3)
})

const OUTAGES = ['offline', 'server away', 'backend failing', 'asleep']

test("the embedded uploader survives four outages, each longer than its token's lifetime, without a click", {
  tag: '@long',
}, async ({ demo }) => {
  test.setTimeout(120_000)
  const customer = await openCustomer(demo)
  const { page, line, backend, confirmed } = customer
  const issue = backend.post
  const away = async () => Response.json({ detail: 'Down.' }, { status: 500 })
  await page
    .locator('.uppy-Dashboard-input')
    .first()
    .setInputFiles(file(`outlasting-${Date.now()}.bin`, 12 * MIB))
  let held = line.holdAfter(2 * MIB)
  await page.getByRole('button', { name: 'Upload 1 file' }).click()
  await held

  for (const outage of OUTAGES) {
    const before = confirmed()
    const setOut = async (out: boolean) => {
      if (outage === 'offline') await page.context().setOffline(out)
      else if (outage === 'backend failing') backend.post = out ? away : issue
      else line.setAway(out)
    }
    held = line.holdAfter(2 * MIB)
    await setOut(true)
    await revokeNewest(demo, customer.pipeId)
    if (outage === 'asleep') await page.clock.fastForward('01:00:00')
    line.cut()
    const reason = outage === 'backend failing' ? 'No upload token: 500' : 'Waiting for the network'
    await expect(page.getByText(reason).first(), outage).toBeVisible()
    for (let seconds = 0; seconds < 60; seconds += 5) await page.clock.runFor(5000)
    await setOut(false)
    if (outage !== 'offline') await page.clock.runFor(30_000)
    await held
    await expect.poll(confirmed, outage).toBeGreaterThan(before)
    await expect(page.getByText('Upload failed')).toHaveCount(0)
  }
  line.flow()
  line.cut()
  await expect(page.getByText('Complete', { exact: true })).toBeVisible({ timeout: 30_000 })
  await customer.close()
})

test('the embedded uploader shows an error when it gets no new token, and continues once it gets one', async ({
  demo,
}) => {
  test.setTimeout(120_000)
  const customer = await openCustomer(demo)
  const { page, line, backend, confirmed } = customer
  await page
    .locator('.uppy-Dashboard-input')
    .first()
    .setInputFiles(file(`refused-${Date.now()}.bin`, 6 * MIB))
  const held = line.holdAfter(3 * MIB)
  await page.getByRole('button', { name: 'Upload 1 file' }).click()
  await held
  await revokeNewest(demo, customer.pipeId)
  const issue = backend.post
  backend.post = async () => Response.json({ detail: 'You are signed out.' }, { status: 403 })
  line.flow()
  line.cut()
  await expect(page.getByText('Upload failed').first()).toBeVisible()
  await expect(page.getByRole('button', { name: /No upload token: 403/ })).toBeVisible()
  backend.post = issue
  await page.getByRole('button', { name: 'Retry upload' }).first().click()
  await expect(page.getByText('Complete', { exact: true })).toBeVisible({ timeout: 30_000 })
  expect(confirmed()).toBeGreaterThan(2 * MIB)
  await customer.close()
})

/** Deletes the kept files, as if the browser had no room for them or they were above the limit. */
const forgetFiles = (page: Page) =>
  page.evaluate(
    () =>
      new Promise<void>((resolve, reject) => {
        const opening = indexedDB.open('sluice-uploads')
        opening.onerror = () => reject(opening.error)
        opening.onsuccess = () => {
          const clearing = opening.result.transaction('files', 'readwrite')
          clearing.objectStore('files').clear()
          clearing.oncomplete = () => {
            opening.result.close()
            resolve()
          }
        }
      }),
  )

test('a file that the browser did not keep is picked again after a reload, and resumes', async ({
  owner: page,
  demo,
}) => {
  // Uses a file on disk, so that it has the same modification time when it is picked again.
  const picked = test.info().outputPath('forgotten.bin')
  writeFileSync(picked, bytes(4 * MIB))
  await page.goto(`/dashboard/pipes/${demo.pipeId}/try`)
  await page.getByLabel('Choose files').setInputFiles(picked)
  await expect.poll(() => figure(page, 'confirmed')).toBeGreaterThan(0)
  await forgetFiles(page)
  await page.reload()
  await expect(page.getByText('Choose the same file again to continue the upload.').first()).toBeVisible()
  await page.getByLabel('Choose files').setInputFiles(picked)
  await expect(page.getByLabel('Requests and responses')).toContainText('HEAD → 200')
  await expect(page.getByText('Uploaded', { exact: true })).toBeVisible({ timeout: 30_000 })
  expect(await figure(page, 'saved')).toBeGreaterThan(0)
})
