import { and, eq } from 'drizzle-orm'
import { pipes, webhookOutputs } from '#drizzle/schema/index.ts'
import { memberAddresses } from '../../identity/accounts/member-addresses.ts'
import { recordAudit } from '../../identity/audit/record-audit.ts'
import type { Db } from '../../platform/db/database.ts'
import { enqueueMail, type Mail } from '../../platform/mail/mail.ts'
import type { Runtime } from '../../platform/runtime.ts'

export type TurningOff = Pick<Runtime, 'clock' | 'queue' | 'vault' | 'config'>

/** Sluice itself turns an output off, and says so: on its page, in the audit log and by mail. */
export async function turnOffOutput(
  runtime: TurningOff,
  tx: Db,
  { id, url }: { id: string; url: string },
  reason: string,
): Promise<void> {
  const now = new Date(runtime.clock.now())
  const [output] = await tx
    .update(webhookOutputs)
    .set({ enabled: false, turnedOffReason: reason, turnedOffAt: now, updatedAt: now })
    // What one address said is no verdict on another that the customer has entered meanwhile.
    .where(and(eq(webhookOutputs.id, id), eq(webhookOutputs.enabled, true), eq(webhookOutputs.url, url)))
    .returning()
  if (!output) return
  const [pipe] = await tx
    .select({ id: pipes.id, name: pipes.name })
    .from(pipes)
    .where(eq(pipes.id, output.pipeId))
  const actor = { workspaceId: output.workspaceId, kind: 'system', id: null, label: 'Sluice' } as const
  await recordAudit({ db: tx, clock: runtime.clock }, actor, {
    action: 'webhook.turned_off',
    subjectId: pipe!.id,
    subjectLabel: pipe!.name,
    detail: { reason },
  })
  for (const to of await memberAddresses(tx, output.workspaceId)) {
    await enqueueMail(runtime, tx, {
      kind: 'mail',
      mail: turnedOffMail(to, pipe!, reason, runtime.config.baseUrl),
    })
  }
}

function turnedOffMail(
  to: string,
  pipe: { id: string; name: string },
  reason: string,
  baseUrl: string,
): Mail {
  const text = [
    `Sluice turned off the webhook output of your Pipe "${pipe.name}". ${reason}`,
    'Uploads go on as before, but nobody is told of them; their events are kept for 30 days. Fix the receiver, turn the output on again, then resend what failed and send what was missed:',
    `${baseUrl}/dashboard/pipes/${pipe.id}`,
    '--\nSluice\n',
  ]
  return { to, subject: `The webhook of "${pipe.name}" is off`, text: text.join('\n\n') }
}
