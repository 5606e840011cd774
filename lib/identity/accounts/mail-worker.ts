import { deliverMail } from '../../platform/mail/deliver-mail.ts'
import { openMailJob } from '../../platform/mail/mail.ts'
import type { ConfiguredRuntime, Runtime } from '../../platform/runtime.ts'
import { createEmailLink } from './email-link.ts'
import { resetMail } from './mails.ts'
import { findUserByEmail } from './users.ts'

const CONCURRENCY = 2

export async function startMailWorker(runtime: Runtime): Promise<void> {
  await runtime.queue.work<{ sealed: string }>('mail', CONCURRENCY, (data) => workOnMail(runtime, data))
}

export async function workOnMail(runtime: Runtime, data: { sealed: string }): Promise<void> {
  const job = openMailJob(runtime, data)
  if (job.kind === 'mail') await deliverMail(runtime, job.mail)
  else await mailPasswordReset(runtime, job.email)
}

/** The worker's part of a password reset. */
async function mailPasswordReset(runtime: ConfiguredRuntime, email: string): Promise<void> {
  const user = await findUserByEmail(runtime.db, email)
  if (!user) return
  const link = await createEmailLink(runtime, 'reset', user)
  await deliverMail(runtime, resetMail(user.email, link))
}
