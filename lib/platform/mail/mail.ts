import type { Db } from '../db/database.ts'
import type { Runtime } from '../runtime.ts'

/**
 * Emails are sent through the queue: the transaction that makes an email necessary enqueues it, and a worker sends it.
 * Jobs are sealed in the database, because an email may contain a sign-in link.
 */
export type Mail = {
  to: string
  subject: string
  text: string
  /** The workspace whose members can also read the email in the dashboard, if it is stored as a file. */
  workspaceId?: string
}

/**
 * For `password-reset`, the worker looks up the account, so that the request takes the same time whether the account
 * exists or not.
 */
type MailJob = { kind: 'mail'; mail: Mail } | { kind: 'password-reset'; email: string }

const CONTEXT = 'mail'

export async function enqueueMail(
  { queue, vault }: Pick<Runtime, 'queue' | 'vault'>,
  tx: Db,
  job: MailJob,
): Promise<void> {
  await queue.enqueue(tx, 'mail', { sealed: vault.seal(JSON.stringify(job), CONTEXT) })
}

export function openMailJob({ vault }: Pick<Runtime, 'vault'>, { sealed }: { sealed: string }): MailJob {
  return JSON.parse(vault.open(sealed, CONTEXT)) as MailJob
}
