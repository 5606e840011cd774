import type { BrowserContext, Page } from 'playwright/test'
import { api, expect, test } from '../../test/support/browser.ts'
import { file, holdBodies, MIB, openCustomer } from '../../test/support/kit-site.ts'

/** Tests one upload in several tabs, across reloads, and in components that mount and unmount. */

/** Opens a second tab that waits to take over the first tab's upload. */
async function openWaitingTab(context: BrowserContext, url: string): Promise<Page> {
  const second = await context.newPage()
  await second.goto(url)
  await second.waitForFunction(async () => (await navigator.locks.query()).pending?.length === 1)
  await expect(second.getByRole('listitem')).toHaveCount(0)
  return second
}

test('an upload continues in a second tab once the first is closed, and not before', async ({
  demo,
  page,
  context,
}) => {
  await using customer = await openCustomer(demo, '<UploadButton />')
  await page.goto(customer.url)
  await holdBodies(page, customer.uploadUrl)
  await page.getByLabel('Choose files').setInputFiles(file('shared.txt', 2 * MIB))
  await expect.poll(async () => Object.keys(await customer.statuses()).length).toBe(1)
  const second = await openWaitingTab(context, customer.url)
  await page.close()
  await expect(second.getByRole('listitem')).toContainText('Uploaded')
  expect(await customer.statuses()).toEqual({ 'shared.txt': 'transferred' })
})

test('an upload canceled in one tab is not started again by another that waited for it', async ({
  demo,
  page,
  context,
}) => {
  await using customer = await openCustomer(demo, '<UploadButton />')
  await page.goto(customer.url)
  await holdBodies(page, customer.uploadUrl)
  await page.getByLabel('Choose files').setInputFiles(file('shared.txt', 2 * MIB))
  await expect.poll(async () => Object.keys(await customer.statuses()).length).toBe(1)
  const second = await openWaitingTab(context, customer.url)
  await page.getByRole('button', { name: 'Cancel shared.txt' }).click()
  await expect.poll(customer.statuses).toEqual({ 'shared.txt': 'canceled' })
  await second.waitForFunction(async () => {
    const { held, pending } = await navigator.locks.query()
    return held?.length === 0 && pending?.length === 0
  })
  await expect(second.getByRole('listitem')).toHaveCount(0)
  await second.getByLabel('Choose files').setInputFiles(file('other.txt'))
  await expect(second.getByRole('listitem')).toHaveText(/other.txt.*Uploaded/)
})

for (const react18 of [true, false]) {
  test(`under React ${react18 ? 18 : 19}, a component mounted twice by strict mode sends a file once, even across a reload and a remount`, async ({
    demo,
    page,
  }) => {
    const code = `globalThis.done = 0
function App() {
  const [at, move] = useState(0)
  return <>
    <button onClick={() => move(at + 1)}>Another page</button>
    <UploadButton key={at} onDone={() => done++} />
  </>
}`
    const element = '<StrictMode><App /></StrictMode>'
    await using customer = await openCustomer(demo, element, { code, react18, development: true })
    await page.goto(customer.url)
    expect(await page.evaluate(() => Reflect.get(globalThis, 'reactVersion'))).toMatch(
      react18 ? /^18/ : /^19/,
    )
    const flow = await holdBodies(page, customer.uploadUrl)
    await page.getByLabel('Choose files').setInputFiles(file('twice.txt', 2 * MIB))
    await expect.poll(async () => Object.keys(await customer.statuses()).length).toBe(1)
    await page.reload()
    await expect(page.getByRole('listitem')).toContainText('twice.txt')
    await page.getByRole('button', { name: 'Another page' }).click()
    await expect(page.getByRole('listitem')).toHaveCount(1)
    flow()
    await expect(page.getByRole('listitem')).toContainText('Uploaded')
    expect(await page.evaluate(() => Reflect.get(globalThis, 'done'))).toBe(1)
    const { data } = await api<{ data: object[] }>(demo, 'GET', `/files?pipeId=${customer.pipeId}`)
    expect(data).toMatchObject([{ filename: 'twice.txt', status: 'transferred' }])
  })
}
