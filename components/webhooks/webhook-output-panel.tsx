import { switchWebhook } from '#app/dashboard/webhooks/actions.ts'
import type { WebhookOutput } from '#lib/webhooks/webhook-output.ts'
import { Notice } from '../ui/notice.tsx'
import { ActionSwitch } from '../ui/switch.tsx'
import { Time } from '../ui/time.tsx'
import { SecretPanel } from './secret-panel.tsx'
import { SendTest } from './send-test.tsx'
import { WebhookForm } from './webhook-form.tsx'

type Props = { pipeId: string; output: WebhookOutput | undefined; inboxUrl: string }

/** The Webhook output of a Pipe: off until it has an address. */
export function WebhookOutputPanel({ pipeId, output, inboxUrl }: Props) {
  if (!output) {
    return (
      <div className="rounded-lg border bg-surface p-4">
        <h3 className="font-medium text-sm">Webhook</h3>
        <p className="mt-0.5 mb-4 text-ink-faint text-sm">
          Tells your backend when a file is in the bucket. Off until you give it an address.
        </p>
        <WebhookForm pipeId={pipeId} url="" statuses={[]} enabled inboxUrl={inboxUrl} submit="Switch on" />
      </div>
    )
  }
  const { url, statuses, enabled } = output
  return (
    <div className="rounded-lg border bg-surface p-4">
      <ActionSwitch
        on={enabled}
        label="Webhook"
        hint="Tells your backend when a file is in the bucket."
        action={switchWebhook.bind(null, pipeId, url, statuses)}
      />
      {output.turnedOffReason && (
        <Notice tone="bad" title="Sluice turned it off" className="mt-4">
          {output.turnedOffReason} {output.turnedOffAt && <Time at={output.turnedOffAt} />}. Mend the
          receiver, send a test, then switch it on and resend what failed.
        </Notice>
      )}
      {enabled && output.failingSince && (
        <Notice tone="warn" title="Nothing but failures" className="mt-4">
          Every attempt has failed since <Time at={output.failingSince} />. After five days Sluice turns it
          off.
        </Notice>
      )}
      <div className="mt-4 space-y-5 border-t pt-4">
        <WebhookForm
          pipeId={pipeId}
          url={url}
          statuses={statuses}
          enabled={enabled}
          inboxUrl={inboxUrl}
          submit="Save"
          aside={<SendTest pipeId={pipeId} />}
        />
        <SecretPanel pipeId={pipeId} previousSecretUntil={output.previousSecretUntil} />
      </div>
    </div>
  )
}
