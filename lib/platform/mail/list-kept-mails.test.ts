import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { testRuntime } from '../../../test/support/runtime.ts'
import { deliverMail } from './deliver-mail.ts'
import { listKeptMails } from './mail.ts'

const dataDir = mkdtempSync(join(tmpdir(), 'sluice-mails-'))
afterAll(() => rmSync(dataDir, { recursive: true }))
const runtime = testRuntime({} as never, { DATA_DIR: dataDir })
const viewer = (email: string, demo: boolean) => ({
  email,
  workspace: { id: '', name: '', inboxKey: '', demo },
})

it('shows the demo workspace its own mails, newest first, and nobody the mails of another', async () => {
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
