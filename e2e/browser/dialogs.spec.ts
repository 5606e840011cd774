import type { Page } from 'playwright/test'
import { fillIn } from '../../test/support/addresses.ts'
import { expectAccessible } from '../../test/support/axe.ts'
import { expect, openPalette, test } from '../../test/support/browser.ts'

/** Pages, each with the buttons that open its dialogs. */
const DIALOGS: [address: string, ...buttons: string[]][] = [
  ['/dashboard/senders/{senderId}', 'Rotate', 'Add a key', 'Remove', 'Revoke', 'Revoke…'],
  ['/dashboard/pipes/{pipeId}/webhooks', 'Rotate'],
  ['/dashboard/pipes/{pipeId}/settings', 'Delete Pipe…'],
  ['/dashboard/data-stores/{dataStoreId}', 'Delete…'],
  ['/dashboard/files/{fileId}', 'Cancel upload…'],
  ['/dashboard/webhooks?pipeId={refusedPipeId}', 'Resend all undelivered…'],
  ['/dashboard/settings/keys', 'Create a key', 'Revoke'],
]

async function look(page: Page, what: string): Promise<void> {
  await expect(page.getByRole('dialog')).toBeVisible()
  await expectAccessible(page, what, '[role=dialog]')
}

async function open(page: Page, button: string): Promise<void> {
  await page.getByRole('button', { name: button, exact: true }).first().click()
}

test('every confirmation dialog is accessible in both modes', { tag: '@long' }, async ({
  owner: page,
  demo,
}) => {
  for (const [address, ...buttons] of DIALOGS) {
    await page.goto(await fillIn(address, demo))
    for (const button of buttons) {
      await open(page, button)
      await look(page, `${address}, ${button}`)
      await page.keyboard.press('Escape')
      await expect(page.getByRole('dialog')).toHaveCount(0)
    }
  }
})

test('the secret dialog, the drawer, ⌘K and the phone menu are accessible in both modes', {
  tag: '@long',
}, async ({ owner: page, demo }) => {
  await page.goto('/dashboard/senders')
  await open(page, 'Create a Sender')
  await look(page, 'Create a Sender')
  await page.getByLabel('Name').fill('Looked at')
  await page.keyboard.press('Enter')
  await expect(page.getByText('Your Sender token')).toBeVisible()
  await look(page, 'Your Sender token')
  await page.goto(await fillIn('/dashboard/webhooks?delivery={deliveryId}', demo))
  await look(page, 'the delivery drawer')
  await page.setViewportSize({ width: 390, height: 844 })
  await page.goto('/dashboard')
  await openPalette(page)
  await page.keyboard.type('Demo')
  await expect(page.getByRole('option', { name: /Demo Pipe/ })).toBeVisible()
  await look(page, '⌘K')
  await page.keyboard.press('Escape')
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await open(page, 'Open the menu')
  await look(page, 'the phone menu')
})
