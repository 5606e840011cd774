import type { Page } from 'playwright/test'
import { expect, test } from '../../test/support/browser.ts'
import { press, tabTo } from '../../test/support/keys.ts'
import { keptLink } from '../../test/support/session.ts'

const PASSWORD = 'a few words in a row'

/** Returns the new account's address. */
async function signUp(page: Page, name: string): Promise<string> {
  const email = `${name}-${Date.now()}@example.com`
  await page.goto('/sign-up')
  await enter(page, email, PASSWORD)
  return email
}

async function enter(page: Page, email: string, password: string): Promise<void> {
  await expect(page.getByLabel('Email')).toBeFocused()
  await page.keyboard.type(email)
  await tabTo(page, 'Password')
  await page.keyboard.type(password)
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { name: 'Your first file' })).toBeVisible()
}

test('an account is created, set up and deleted with the keyboard alone', { tag: '@long' }, async ({
  page,
  demo,
}) => {
  const email = await signUp(page, 'keys')
  await press(page, /Connect a bucket/)
  await tabTo(page, 'AWS S3')
  await page.keyboard.press('ArrowUp')
  await expect(page.getByLabel('Any S3-compatible')).toBeChecked()
  const { name, region, endpoint, accessKeyId, secretAccessKey } = demo.bucket
  for (const [field, value] of Object.entries({
    Name: 'By keys',
    Bucket: name,
    Region: region,
    Endpoint: endpoint,
    'Access key id': accessKeyId,
    'Secret access key': secretAccessKey,
  })) {
    await tabTo(page, field)
    await page.keyboard.type(value)
  }
  await page.keyboard.press('Enter')
  await expect(page.getByText('Uploads can go to this bucket.')).toBeVisible()
  await press(page, 'Delete…')
  await tabTo(page, /to confirm$/)
  await page.keyboard.type('By keys')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { name: 'Connect your first bucket' })).toBeVisible()

  await press(page, /^Settings$/)
  await expect(page.getByRole('heading', { name: 'Settings' })).toBeVisible()
  await tabTo(page, 'Name')
  await page.keyboard.type('Kim Keys')
  await page.keyboard.press('Enter')
  await expect(page.getByText('Saved.')).toBeVisible()
  await press(page, 'Workspace')
  await press(page, 'Account keys')
  await expect(page.getByText('No account key')).toBeVisible()
  await press(page, 'Create a key')
  await page.keyboard.type('by keys')
  await expect(page.getByLabel('Scope')).toHaveValue('read')
  await expect(page.getByLabel('Expires')).toHaveValue('90')
  await tabTo(page, 'Your password')
  await page.keyboard.type(PASSWORD)
  await page.keyboard.press('Enter')
  await expect(page.getByText('Your account key')).toBeVisible()
  await press(page, 'I have saved it', 'Space')
  await press(page, 'Done')
  await expect(page.getByRole('row', { name: /by keys/ })).toBeVisible()
  await press(page, 'Revoke')
  await expect(page.getByRole('dialog')).toBeVisible()
  await press(page, 'Revoke')
  await expect(page.getByRole('row', { name: /by keys/ }).getByText('revoked')).toBeVisible()

  await press(page, 'You')
  await press(page, 'Delete account')
  await expect(page.getByRole('heading', { name: 'Delete the account' })).toBeVisible()
  await tabTo(page, /to confirm$/)
  await page.keyboard.type(email)
  await tabTo(page, 'Your password')
  await page.keyboard.type(PASSWORD)
  await press(page, 'Delete my account')
  await expect(page).not.toHaveURL(/dashboard/)
})

test('a user signs out and in, changes the password and ends a session with the keyboard alone', {
  tag: '@long',
}, async ({ page }) => {
  const email = await signUp(page, 'reset')
  await press(page, 'Sign out')
  await expect(page.getByRole('heading', { name: 'Sign in' })).toBeVisible()
  await press(page, 'Forgot your password?')
  await expect(page.getByRole('heading', { name: 'Forgot your password?' })).toBeVisible()
  await expect(page.getByLabel('Email')).toBeFocused()
  await page.keyboard.type(email)
  await page.keyboard.press('Enter')
  await expect(page.getByText('If this address has an account, your administrator')).toBeVisible()

  await expect.poll(() => keptLink(email, '/reset-password')).toBeDefined()
  await page.goto(keptLink(email, '/reset-password')!)
  await expect(page.getByLabel('New password')).toBeFocused()
  await page.keyboard.type('other words in a row')
  await page.keyboard.press('Enter')
  await expect(page.getByText('Your password was changed')).toBeVisible()
  await press(page, 'Go to the dashboard')
  await expect(page.getByRole('heading', { name: 'Your first file' })).toBeVisible()

  // Acts like another browser: the first browser's session stays open.
  await page.context().clearCookies()
  await page.goto('/login')
  await enter(page, email, 'other words in a row')
  await press(page, 'Settings')
  await expect(page.getByRole('heading', { name: 'Settings' })).toBeVisible()
  await press(page, 'Sessions')
  const sessions = page.getByRole('table', { name: 'Sessions' }).getByRole('row')
  await expect(sessions).toHaveCount(3)
  // From here, the next Sign out button is the row's, not the sidebar's.
  await tabTo(page, 'Sign all others out…')
  await press(page, 'Sign out')
  await expect(page.getByRole('dialog')).toBeVisible()
  await press(page, 'Sign out')
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await expect(sessions).toHaveCount(2)
})
