import type { Page } from 'playwright/test'
import { fillIn } from '../../test/support/addresses.ts'
import { expectAccessible } from '../../test/support/axe.ts'
import { api, expect, test } from '../../test/support/browser.ts'
import { OPERATOR } from '../../test/support/browser-setup.ts'
import { press, tabTo } from '../../test/support/keys.ts'
import { DASHBOARD_PAGES } from '../../test/support/pages.ts'
import { keptLink } from '../../test/support/session.ts'

const PASSWORD = 'a few words in a row'
const MEMBERS = '/dashboard/settings/members'

/** Checks that nothing overflows horizontally on a phone, and that axe finds nothing in either mode. */
async function expectFits(page: Page, what: string): Promise<void> {
  const size = page.viewportSize()!
  await page.setViewportSize({ width: 360, height: 800 })
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
  expect(wide, `${what} at 360 pixels`).toBeLessThanOrEqual(0)
  await expectAccessible(page, `${what} at 360 pixels`)
  await page.setViewportSize(size)
}

/** The buttons a viewer may use: navigation, and those for their own account. */
const HARMLESS = [
  /^(Copy|Live$|Paused$|Clear$|JSON$|Show|Export|Close|Page through|Find)/,
  /^(Save|Change password|Set up|Sign out|Sign all others out…|Delete my account|Leave…?|Open .*|Create)$/,
]

/** The buttons on a page as the server sends it, including those in its dialogs for browsers without JavaScript. */
async function buttonsOf(page: Page, path: string): Promise<string[]> {
  const response = await page.request.get(path)
  if (response.status() === 403) return []
  const html = (await response.text()).replace(/<script.*?<\/script>/gs, '')
  const main = html.slice(html.indexOf('<main'), html.indexOf('</main>'))
  return [...main.matchAll(/<(?:button|a)\b([^>]*)>(.*?)<\/(?:button|a)>/gs)]
    .filter(([, tag]) => !/role="tab"/.test(tag!))
    .filter(([whole, tag]) =>
      whole.startsWith('<button') ? !/ disabled=""/.test(tag!) : /\/new\b|new=1|\/try"/.test(tag!),
    )
    .map(([, tag, text]) => tag!.match(/aria-label="([^"]*)"/)?.[1] ?? text!.replace(/<[^>]*>/g, '').trim())
}

test('a member is invited, views, edits and is removed, with the keyboard alone', { tag: '@long' }, async ({
  owner,
  browser,
  baseURL,
  demo,
}) => {
  // This test opens every dashboard page.
  test.slow()
  await owner.goto(MEMBERS)
  await press(owner, 'Invite')
  await expect(owner.getByLabel('Email')).toBeFocused()
  await owner.keyboard.type(OPERATOR)
  await tabTo(owner, 'Role')
  await owner.keyboard.type('viewer')
  await press(owner, 'Create the invitation')
  await expect(
    owner.getByRole('table', { name: 'Invitations' }).getByRole('row', { name: OPERATOR }),
  ).toBeVisible()
  await expectFits(owner, 'members with an invitation')
  await owner.goto('/dashboard/settings/mails')
  await expect(owner.getByText(`To ${OPERATOR}`).first()).toBeVisible()

  const context = await browser.newContext({ baseURL: baseURL!, reducedMotion: 'reduce' })
  const guest = await context.newPage()
  await expect.poll(() => keptLink(OPERATOR, '/invitation')).toBeDefined()
  await guest.goto(keptLink(OPERATOR, '/invitation')!)
  await expectFits(guest, 'an invitation')
  await tabTo(guest, 'Password')
  await guest.keyboard.type(PASSWORD)
  await guest.keyboard.press('Enter')
  await expect(guest.getByRole('heading', { name: 'Overview' })).toBeVisible()

  for (const path of DASHBOARD_PAGES.filter((path) => path.startsWith('/dashboard'))) {
    const offered = await buttonsOf(guest, await fillIn(path, demo))
    const refused = offered.filter((name) => !HARMLESS.some((harmless) => harmless.test(name)))
    expect(refused, `a viewer is offered on ${path}`).toEqual([])
  }

  await press(owner, 'Members')
  await press(owner, `Change role of ${OPERATOR}`)
  await tabTo(owner, 'Role')
  await owner.keyboard.type('developer')
  await press(owner, 'Change the role')
  await expect(owner.getByRole('row', { name: OPERATOR }).getByText('developer')).toBeVisible()

  await guest.goto('/dashboard/pipes')
  await press(guest, 'Create a Pipe')
  await expect(guest.getByLabel('Name', { exact: true })).toBeFocused()
  await guest.keyboard.type('Of a guest')
  await guest.keyboard.press('Enter')
  await expect(guest.getByRole('heading', { name: 'Of a guest' })).toBeVisible()

  await press(owner, `Remove ${OPERATOR}`)
  await press(owner, 'Remove')
  // Elements behind an open dialog have no role.
  await expect(owner.getByRole('dialog')).toHaveCount(0)
  await expect(owner.getByRole('row', { name: OPERATOR })).toHaveCount(0)
  await guest.reload()
  await expect(guest.getByRole('heading', { name: 'There is nothing here' })).toBeVisible()
  await guest.goto('/workspaces')
  await expect(guest.getByText('You are an owner · 1 member')).toBeVisible()
  await expectFits(guest, 'workspaces')

  await owner.goto('/dashboard/settings/audit?action=member')
  await expect(owner.getByText('member.removed').first()).toBeVisible()
  await expectFits(owner, 'the audit log')
  const sender = await api<{ id: string }>(demo, 'POST', '/senders', { name: '=cmd|calc' })
  const csv = await owner.request.get(`/dashboard/settings/audit/export?action=sender&search=${sender.id}`)
  expect(await csv.text()).toMatch(/sender\.created,[^,]*,"'=cmd\|calc"/)
  const json = await owner.request.get('/dashboard/settings/audit/export?action=member&format=json')
  expect(((await json.json()) as { action: string }[])[0]).toMatchObject({ action: 'member.removed' })

  await operate(guest)
  await context.close()
})

/** Tests the operator console as the invited member, who is also an operator. */
async function operate(page: Page): Promise<void> {
  // Text that the database does not accept.
  await page.goto('/operator?search=%00')
  await expect(page.getByRole('table', { name: 'Workspaces' })).toBeVisible()
  await page.goto('/dashboard')
  await press(page, 'Operator console')
  await expect(page.getByRole('table', { name: 'Workspaces' })).toBeVisible()
  await expectFits(page, 'the console')
  await tabTo(page, "Name, or a member's address")
  await page.keyboard.type('ops@example')
  await expect(page.getByRole('row')).toHaveCount(2)
  await press(page, OPERATOR)
  await expect(page.getByRole('heading', { name: OPERATOR })).toBeVisible()
  await tabTo(page, /^Monthly transfer/)
  await page.keyboard.type('5')
  await tabTo(page, /^Share of upload memory/)
  await page.keyboard.type('20')
  await press(page, 'Save')
  await expect(page.getByText('Saved. The new limits apply within seconds.')).toBeVisible()
  await expect(
    page.getByText('Members see the reason in the dashboard. This server does not send email.'),
  ).toBeVisible()
  await tabTo(page, /^Reason/)
  await page.keyboard.type('The invoice is overdue.')
  await press(page, 'Suspend')
  await expect(page.getByText('Its members see the reason in the dashboard.')).toBeVisible()
  await expect(page.getByText(/^Suspended .*: The invoice is overdue\.$/)).toBeVisible()
  await expectFits(page, 'a suspended workspace')
  await page.goto('/dashboard')
  await expect(page.getByText('The reason: The invoice is overdue.')).toBeVisible()
  await page.goBack()
  await press(page, 'Lift the suspension')
  await expect(page.getByLabel(/^Reason/)).toBeVisible()
  await page.reload()
  await expect(page.getByLabel(/^Share of upload memory/)).toHaveValue('20')
  await press(page, 'Service')
  await expect(page.getByRole('table', { name: 'Nodes' })).toBeVisible()
  await expectFits(page, 'the Service page')
  await page.goto('/dashboard/settings/audit?actorKind=operator')
  await expect(page.getByText('workspace.suspension_lifted')).toBeVisible()
}
