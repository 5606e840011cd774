import { deliverMail } from '../../platform/mail/deliver-mail.ts'
import { openMailJob } from '../../platform/mail/mail.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { mailPasswordReset } from './mail-password-reset.ts'

const CONCURRENCY = 2

export async function startMailWorker(runtime: Runtime): Promise<void> {
  await runtime.queue.work<{ sealed: string }>('mail', CONCURRENCY, (data) => workOnMail(runtime, data))
}

export async function workOnMail(runtime: Runtime, data: { sealed: string }): Promise<void> {
  const job = openMailJob(runtime, data)
  if (job.kind === 'mail') await deliverMail(runtime, job.mail)
  else await mailPasswordReset(runtime, job.email)
}
