import { switchWebhook } from '#app/dashboard/webhooks/actions.ts'
import type { Missed } from '#lib/webhooks/outputs/missed-events.ts'
import type { WebhookOutput } from '#lib/webhooks/outputs/webhook-output.ts'
import { Notice } from '../ui/notice.tsx'
import { ActionSwitch } from '../ui/switch.tsx'
import { Time } from '../ui/time.tsx'
import { MissedEvents } from './missed-events.tsx'
import { SecretPanel } from './secret-panel.tsx'
import { SendTest } from './send-test.tsx'
import { WebhookForm } from './webhook-form.tsx'

type Props = { pipeId: string; output: WebhookOutput | undefined; missed: Missed; inboxUrl: string }

/** The Webhook output of a Pipe: off until it has an address. */
export function WebhookOutputPanel({ pipeId, output, missed, inboxUrl }: Props) {
  return (
    <div className="rounded-lg border bg-surface p-4">
      {output ? <State pipeId={pipeId} output={output} /> : <Introduction />}
      {missed.events > 0 && (
        <MissedEvents pipeId={pipeId} missed={missed} canSend={output?.enabled ?? false} />
      )}
      {/* One and the same form before and after the first saving, since it shows the secret then. */}
      <div key="form" className="mt-4 space-y-5 border-t pt-4">
        <WebhookForm
          pipeId={pipeId}
          url={output?.url ?? ''}
          statuses={output?.statuses ?? []}
          enabled={output?.enabled ?? true}
          inboxUrl={inboxUrl}
          submit={output ? 'Save' : 'Switch on'}
        />
        {output && <SendTest pipeId={pipeId} />}
        {output && <SecretPanel pipeId={pipeId} previousSecretUntil={output.previousSecretUntil} />}
      </div>
    </div>
  )
}

const PURPOSE = 'Tells your backend when a file is in the bucket.'
const WHILE_OFF = 'While it is off, events are not sent but kept for 30 days.'

function Introduction() {
  return (
    <div>
      <h3 className="font-medium text-sm">Webhook</h3>
      <p className="mt-0.5 text-ink-faint text-sm">{PURPOSE} Off until you give it an address.</p>
    </div>
  )
}

function State({ pipeId, output }: { pipeId: string; output: WebhookOutput }) {
  const { url, statuses, enabled, turnedOffReason, turnedOffAt, failingSince } = output
  return (
    <div>
      <ActionSwitch
        on={enabled}
        label="Webhook"
        hint={enabled ? PURPOSE : `${PURPOSE} ${WHILE_OFF}`}
        action={switchWebhook.bind(null, pipeId, url, statuses)}
      />
      {turnedOffReason && (
        <Notice tone="bad" title="Sluice turned it off" className="mt-4">
          {turnedOffReason} {turnedOffAt && <Time at={turnedOffAt} />}. Mend the receiver, send a test, then
          switch it on, resend what failed and send what was missed.
        </Notice>
      )}
      {enabled && failingSince && (
        <Notice tone="warn" title="Nothing but failures" className="mt-4">
          Every attempt has failed since <Time at={failingSince} />. After five days Sluice turns it off.
        </Notice>
      )}
    </div>
  )
}
