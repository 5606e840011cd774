import type { Db } from '../db/database.ts'
import type { Runtime } from '../runtime.ts'

/**
 * Mails leave by the queue: put in by the transaction that makes them necessary, sent by a worker. A job lies
 * sealed in the database, since a mail may hold a link that lets its reader in.
 */
export type Mail = {
  to: string
  subject: string
  text: string
  /** On whose behalf it is sent, where that is not its reader alone. */
  workspaceId?: string
}

/** `password-reset` looks for the account only in the worker: asking takes as long whether there is one or not. */
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
