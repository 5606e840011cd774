import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { testRuntime } from '../../test/support/runtime.ts'
import { deliverMail } from '../platform/mail/deliver-mail.ts'
import { listKeptMails } from './kept-mails.ts'

const dataDir = mkdtempSync(join(tmpdir(), 'sluice-mails-'))
afterAll(() => rmSync(dataDir, { recursive: true }))
const runtime = testRuntime({} as never, { DATA_DIR: dataDir })
const viewer = (email: string, demo: boolean, role = 'owner') => ({
  email,
  workspace: { id: demo ? 'demo' : 'another', demo },
  actor: { role },
})

it("shows the demo workspace its own emails, newest first, and shows nobody another workspace's emails", async () => {
  const [demo, other] = ['demo@sluice.local', 'other@example.com']
  for (const [to, subject] of [
    [demo, 'First'],
    [other, 'Set a new password'],
    [demo, 'Second'],
  ] as const) {
    await deliverMail(runtime, { to, subject, text: `For ${to}\n\nTo: ${demo}` })
    runtime.clock.advance(1)
  }
  const shown = await listKeptMails(runtime, viewer('Demo@sluice.local', true))
  expect(shown.map(({ subject }) => subject)).toEqual(['Second', 'First'])
  expect(await listKeptMails(runtime, viewer(other, false))).toEqual([])
  expect(await listKeptMails(runtime, viewer(demo, false))).toEqual([])
})

it("shows the demo workspace emails sent on its behalf, but no links into other members' accounts", async () => {
  const mail = { to: 'guest@example.com', subject: 'Join Demo', text: 'A link', workspaceId: 'demo' }
  await deliverMail(runtime, mail)
  await deliverMail(runtime, { ...mail, subject: 'Join another', workspaceId: 'another' })
  await deliverMail(runtime, { to: 'admin@example.com', subject: 'Set a new password', text: 'A link' })
  const shown = await listKeptMails(runtime, viewer('admin@example.com', true, 'admin'))
  expect(shown.map(({ subject }) => subject)).toEqual(['Join Demo'])
})
