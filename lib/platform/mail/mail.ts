import type { Db } from '../db/database.ts'
import type { Runtime } from '../runtime.ts'
import type { Config } from '../settings/config.ts'

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

/** Whether anyone would read an email. Without SMTP_URL, only the demo shows its emails. */
export const sendsMail = ({ smtpUrl, demo }: Pick<Config, 'smtpUrl' | 'demo'>) => Boolean(smtpUrl) || demo

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

/** So that no mail client makes a link of a name in an email to someone who did not choose it. */
export const withoutLinks = (name: string) => name.replace(/(?<=\S)[.。．｡:/\\@]+(?=\S)/gu, ' ')
