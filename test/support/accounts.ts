import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { listKeptMails } from '#lib/dashboard/kept-mails.ts'
import { requestPasswordReset } from '#lib/identity/accounts/change-password.ts'
import { workOnMail } from '#lib/identity/accounts/mail-worker.ts'
import { signUp } from '#lib/identity/accounts/sign-up.ts'
import type { DatabaseHandle } from '#lib/platform/db/database.ts'
import { type TestRuntime, testRuntime } from './runtime.ts'

/** People who sign up, each with a new email address, and the emails that they receive. */
export const PASSWORD = 'correct horse battery'
export const VISITOR = { userAgent: 'Test', address: '192.0.2.1' }
let people = 0
export const newEmail = () => `person-${++people}@example.com`
let addresses = 0
export const newAddress = () => `198.51.100.${++addresses}`

/**
 * Returns a function that opens two servers on the database: `mailing` delivers email; `open` keeps it in a folder, and
 * lets users sign in right after they sign up.
 */
export function accountServers(
  database: () => DatabaseHandle,
): () => { open: TestRuntime; mailing: TestRuntime } {
  const dataDir = mkdtempSync(join(tmpdir(), 'sluice-accounts-'))
  afterAll(() => rmSync(dataDir, { recursive: true }))
  return () => ({
    open: testRuntime(database(), { DATA_DIR: dataDir }),
    mailing: testRuntime(database(), { DATA_DIR: dataDir, SMTP_URL: 'smtp://mail.example.com' }),
  })
}

export async function signUpOpen(open: TestRuntime): Promise<{ email: string; userId: string }> {
  const email = newEmail()
  const outcome = await signUp(open, { email, password: PASSWORD }, newAddress())
  if (outcome.outcome !== 'signed-up') throw new Error(outcome.outcome)
  return { email, userId: outcome.userId }
}

/** The emails that a recipient would have received. */
export const keptFor = (open: TestRuntime, email: string) =>
  listKeptMails(open, { email, workspace: { id: 'demo', demo: true }, actor: { role: 'owner' } })

export const linkOf = (text: string) => text.match(/#(\S+)/)![1]!

/** The link in the latest password reset email. */
export async function resetLink(open: TestRuntime, email: string): Promise<string> {
  open.jobs.length = 0
  open.clock.advance(1)
  await requestPasswordReset(open, { email }, newAddress())
  await workOnMail(open, open.jobs[0]!.data as { sealed: string })
  const mail = (await keptFor(open, email)).find(
    ({ to, subject }) => to === email && subject === 'Set a new password',
  )!
  return linkOf(mail.text)
}
