import { execFile, spawnSync } from 'node:child_process'
import { promisify } from 'node:util'
import { TUS_JS_INSTALL } from '#lib/dashboard/embed/browser-snippets.ts'
import { expectAccessible } from '../../test/support/axe.ts'
import { expect, test } from '../../test/support/browser.ts'
import { loadTokenHandler, startCustomerSite } from '../../test/support/customer-site.ts'

const bash = (script: string, env: Record<string, string>) =>
  promisify(execFile)('bash', ['-c', script], { env: { ...process.env, ...env } })
const hasCurl = spawnSync('curl', ['--version']).status === 0

test('a new user gets from sign-up to a file in their bucket and a verified webhook', async ({
  page,
  demo,
  complaints,
}) => {
  test.setTimeout(120_000)
  await page.goto('/')
  await page.getByRole('banner').getByRole('link', { name: 'Start free' }).click()
  await page.getByLabel('Email').fill(`new-${Date.now()}@example.com`)
  await page.getByLabel('Password').fill('a few words in a row')
  await page.getByRole('button', { name: 'Create account' }).click()
  await expect(page.getByRole('heading', { name: 'Your first file' })).toBeVisible()
  await expect(page.getByText('0 of 5 done')).toBeVisible()

  // Connects a Data Store, first with a wrong secret: the check reports the mistake and says what to change.
  await page.getByRole('link', { name: /Connect a bucket/ }).click()
  await page.getByLabel('Name', { exact: true }).fill('Media')
  await page.getByLabel('Bucket', { exact: true }).fill(demo.bucket.name)
  await page.getByLabel('Any S3-compatible').check()
  await page.getByLabel('Region').fill(demo.bucket.region)
  await page.getByLabel('Endpoint').fill(demo.bucket.endpoint)
  await page.getByLabel('Access key id').fill(demo.bucket.accessKeyId)
  await page.getByLabel('Secret access key').fill('not the secret')
  await page.getByRole('button', { name: 'Check and save' }).click()
  await expect(page.getByLabel('Secret access key')).toBeFocused()
  await expect(page.getByText(/white space/)).toBeVisible()
  await page.getByLabel('Secret access key').fill('notthesecret')
  await page.getByRole('button', { name: 'Check and save' }).click()
  await expect(page.getByText('Not saved: uploads could not go to this bucket.')).toBeInViewport()
  await page.getByLabel('Secret access key').fill(demo.bucket.secretAccessKey)
  await page.getByRole('button', { name: 'Check and save' }).click()
  await expect(page.getByText('Uploads can go to this bucket.')).toBeVisible()
  await expect(page.getByText('The minimal policy for these keys')).toBeVisible()
  await expect(page.getByText('"s3:PutObject"').first()).toBeHidden()

  // The check links to the form for a Pipe, which is created with its source off.
  await expect(page).toHaveTitle('Media · Data Stores · Sluice')
  await page.getByRole('link', { name: 'Create a Pipe for this bucket' }).click()
  await expect(page).toHaveURL(/\/pipes\/new/)
  await expect(page.getByLabel('Data Store')).toHaveValue(/^[0-9a-f-]{36}$/)
  await page.getByLabel('Name', { exact: true }).fill('Video uploads')
  await page.getByLabel('Switch on its HTTP (TUS) source').uncheck()
  await page.getByRole('button', { name: 'Create Pipe' }).click()
  await expect(page.getByText('No files yet')).toBeVisible()
  const pipeId = page.url().split('/').at(-1)!
  await page.getByRole('link', { name: 'Connect' }).click()
  const source = page.getByRole('switch', { name: 'HTTP (TUS)' })
  await expect(source).not.toBeChecked()
  await source.click()
  await expect(source).toBeChecked()
  await expect(page.getByText(`${demo.uploadUrl}/pipes/${pipeId}/files/`)).toBeVisible()

  // Its only Data Store is its destination already.
  await page.goto(`/dashboard/pipes/${pipeId}/destinations`)
  await page.getByText('Add a destination').click()
  await expect(page.getByRole('link', { name: 'Connect another bucket' })).toBeVisible()
  await page.getByRole('link', { name: 'Connect', exact: true }).click()

  // The Pipe can be tried before there is a Sender.
  await page.getByRole('link', { name: 'Try it', exact: true }).click()
  await expect(page).toHaveTitle('Video uploads · Try it · Sluice')
  const tried = { name: 'tried.txt', mimeType: 'text/plain', buffer: Buffer.alloc(1000, 'x') }
  await page.getByLabel('Slow connection').uncheck()
  await page.getByLabel('Choose files').setInputFiles(tried)
  await expect(page.getByText('Uploaded', { exact: true })).toBeVisible()
  await page
    .getByRole('navigation', { name: 'Pipe', exact: true })
    .getByRole('link', { name: 'Settings' })
    .click()
  await page
    .getByRole('navigation', { name: 'Pipe, Settings' })
    .getByRole('link', { name: 'Webhooks' })
    .click()

  // Switches on the Pipe's webhook, which sends to the inbox.
  await page.getByRole('button', { name: 'Use your inbox' }).click()
  await page.getByRole('button', { name: 'Switch on' }).click()
  await page.getByLabel('I have saved it').check()
  await page.getByRole('button', { name: 'Done' }).click()
  await expect(page.getByRole('switch', { name: 'Webhook' })).toBeChecked()

  // Creates a Sender, whose token is shown once.
  await page.goto('/dashboard/senders')
  await page.getByRole('button', { name: 'Create a Sender' }).click()
  await page.getByLabel('Name').fill('web backend')
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  const token = await page.getByText(/^sk_\w{20,}$/).textContent()
  await page.keyboard.press('Escape')
  await expect(page.getByText(token!)).toBeVisible()
  await page.getByLabel('I have saved it').check()
  await page.getByRole('button', { name: 'Done' }).click()
  await expect(page.getByText(token!)).toHaveCount(0)
  await page.reload()
  expect(await page.content()).not.toContain(token!)

  // Runs the Embed page's code unchanged: with curl, and on a page from another origin.
  await page.goto(`/dashboard/pipes/${pipeId}/embed`)
  await expect(page.getByText('After a reload, one click resumes the uploads.')).toBeVisible()
  await page.getByRole('tab', { name: 'tus-js-client' }).click()
  await expect(page.getByText(TUS_JS_INSTALL, { exact: true })).toBeVisible()
  const textOf = async (tab: string) => {
    await page.getByRole('tab', { name: tab, exact: true }).first().click()
    return (await page
      .getByRole('tabpanel', { name: tab, exact: true })
      .first()
      .locator('code')
      .textContent())!
  }
  if (hasCurl) {
    const { stdout } = await bash(await textOf('curl'), { SLUICE_SENDER_TOKEN: token! })
    expect(JSON.parse(stdout)).toMatchObject({ pipeId, token: expect.stringMatching(/^tmp_/) })
  }
  process.env.SLUICE_SENDER_TOKEN = token!
  const site = await startCustomerSite(await textOf('Uppy'), await loadTokenHandler(await textOf('Node')))
  const customer = await page.context().newPage()
  await customer.goto(site.url)
  const file = { name: 'Ferien am Meer.txt', mimeType: 'text/plain', buffer: Buffer.alloc(300_000, 'meer ') }
  await customer.locator('.uppy-Dashboard-input').first().setInputFiles(file)
  await customer.getByRole('button', { name: 'Upload 1 file' }).click()
  await expect(customer.getByText('Complete', { exact: true })).toBeVisible()
  await customer.close()
  await site.close()

  // The webhook is in the log, and the inbox's copy can be verified manually.
  await page.goto('/dashboard/webhooks')
  await expect(page.getByRole('table').getByText('delivered')).toBeVisible()
  await page.getByRole('table').getByRole('link', { name: 'Ferien am Meer.txt' }).click()
  const drawer = page.getByRole('dialog', { name: 'Delivery' })
  await expect(drawer.getByText('x-service-signature')).toBeVisible()
  const sent = drawer.locator('dl').filter({ hasText: 'webhook-id' }).first()
  const values = await sent.locator('dd').allTextContents()
  const headers = (await sent.locator('dt').allTextContents())
    .map((name, at) => `${name} ${values[at]}`)
    .join('\n')
  await drawer.getByRole('button', { name: 'Close' }).click()
  await page.getByRole('link', { name: 'Inbox' }).click()
  await expect(page).toHaveURL(/inbox$/)
  await page.getByText('Ferien am Meer.txt', { exact: true }).click()
  await expect(page.getByText('signature verified').first()).toBeVisible()
  const body = JSON.stringify(JSON.parse((await page.locator('details[open] pre').textContent())!))
  await page.getByRole('link', { name: 'Verify a signature' }).click()
  await page.getByLabel('Headers').fill(headers)
  await page.getByLabel('Raw body').fill(body)
  await page.getByRole('button', { name: 'Compare' }).click()
  await expect(page.getByText('This webhook is from Sluice.')).toBeVisible()
  await page.getByLabel('Raw body').fill(body.replace('transferred', 'transfered'))
  await page.getByRole('button', { name: 'Compare' }).click()
  await expect(page.getByText(/The body differs from character \d+/)).toBeVisible()

  await page.goto('/dashboard')
  await expect(page.getByRole('heading', { name: 'Transfer this month' })).toBeVisible()
  await expect(page.getByRole('heading', { name: 'Your first file' })).toHaveCount(0)
  expect(complaints).toEqual([])
})

test('on a local server, the demo opens with one click, and a new workspace can use its bucket', async ({
  page,
  browser,
  baseURL,
}) => {
  await page.goto('/login')
  await expectAccessible(page, 'signing in on a local server')
  await page.getByRole('button', { name: 'Open the demo' }).click()
  await expect(page.getByRole('heading', { name: 'Overview' })).toBeVisible()

  const context = await browser.newContext({ baseURL: baseURL! })
  const other = await context.newPage()
  await other.goto('/sign-up')
  await other.getByLabel('Email').fill(`local-${Date.now()}@example.com`)
  await other.getByLabel('Password').fill('a few words in a row')
  await other.getByRole('button', { name: 'Create account' }).click()
  await other.getByRole('link', { name: /Connect a bucket/ }).click()
  await other.getByRole('button', { name: 'Use it' }).click()
  await expect(other.getByText('Uploads can go to this bucket.')).toBeVisible()
  await context.close()
})
