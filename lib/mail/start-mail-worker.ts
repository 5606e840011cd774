import { mailPasswordReset } from '../accounts/mail-password-reset.ts'
import type { Runtime } from '../runtime.ts'
import { deliverMail } from './deliver-mail.ts'
import { openMailJob } from './mail.ts'

const CONCURRENCY = 2

export async function startMailWorker(runtime: Runtime): Promise<void> {
  await runtime.queue.work<{ sealed: string }>('mail', CONCURRENCY, (data) => workOnMail(runtime, data))
}

export async function workOnMail(runtime: Runtime, data: { sealed: string }): Promise<void> {
  const job = openMailJob(runtime, data)
  if (job.kind === 'mail') await deliverMail(runtime, job.mail)
  else await mailPasswordReset(runtime, job.email)
}
