import { Trash2 } from 'lucide-react'
import { Button } from '#components/ui/button.tsx'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { Notice } from '#components/ui/notice.tsx'
import { IfMay } from '#components/ui/rights.tsx'
import { SecretPanel } from '#components/ui/secret-panel.tsx'
import { ActionSwitch } from '#components/ui/switch.tsx'
import { Time } from '#components/ui/time.tsx'
import type { Delivery } from '#lib/webhooks/log/delivery.ts'
import type { Missed } from '#lib/webhooks/outputs/missed-events.ts'
import type { WebhookOutput } from '#lib/webhooks/outputs/webhook-output.ts'
import { deleteWebhook, reveal, rotate, switchWebhook } from './actions.ts'
import { LatestDeliveries } from './latest-deliveries.tsx'
import { MissedEvents } from './missed-events.tsx'
import { SendTest } from './send-test.tsx'
import { WebhookForm } from './webhook-form.tsx'

type Props = {
  /** Null for a workspace output. */
  pipeId: string | null
  output: WebhookOutput | undefined
  missed: Missed
  latest: Delivery[]
  inboxUrl: string
}

/** A webhook output with its settings, deliveries and secret. It is off until it has an address. */
export function WebhookOutputPanel({ pipeId, output, missed, latest, inboxUrl }: Props) {
  return (
    <div className="rounded-lg border bg-surface p-4">
      {output ? <State output={output} /> : <Introduction />}
      {missed.events > 0 && (
        <MissedEvents
          pipeId={pipeId}
          outputId={output?.id}
          missed={missed}
          canSend={output?.enabled ?? false}
        />
      )}
      {/* The form stays mounted after the first save, so that it can show the secret. */}
      <div key="form" className="mt-4 space-y-5 border-t pt-4">
        <WebhookForm
          key="fields"
          pipeId={pipeId}
          output={output}
          inboxUrl={inboxUrl}
          submit={output ? 'Save' : 'Switch on'}
        />
        {output && <LatestDeliveries outputId={output.id} latest={latest} />}
        {output && <SendTest outputId={output.id} />}
        {output && (
          <IfMay right="build">
            <SecretPanel
              reveal={reveal.bind(null, output.id)}
              rotate={rotate.bind(null, output.id)}
              previousSecretUntil={output.previousSecretUntil}
            />
            <DeleteOutput output={output} />
          </IfMay>
        )}
      </div>
    </div>
  )
}

const PURPOSE = 'Notifies your backend when a file is in the bucket.'
const LIST = new Intl.ListFormat('en')
const purposeOf = ({ events }: WebhookOutput) =>
  events.includes('file.status_changed') ? PURPOSE : `Sends ${LIST.format(events)}.`
const WHILE_OFF = 'While it is off, events are not sent, but kept for 30 days.'

function Introduction() {
  return (
    <div>
      <h3 className="font-medium text-sm">Webhook</h3>
      <p className="mt-0.5 text-ink-faint text-sm">
        {PURPOSE} The webhook is off until you enter an address.
      </p>
    </div>
  )
}

function State({ output }: { output: WebhookOutput }) {
  const { id, name, enabled, turnedOffReason, turnedOffAt, failingSince } = output
  const purpose = purposeOf(output)
  return (
    <div>
      <ActionSwitch
        on={enabled}
        label={name}
        hint={enabled ? purpose : `${purpose} ${WHILE_OFF}`}
        action={switchWebhook.bind(null, id)}
        right="build"
      />
      {turnedOffReason && (
        <Notice tone="bad" title="Sluice turned this output off" className="mt-4">
          {turnedOffReason} {turnedOffAt && <Time at={turnedOffAt} />}. Fix the receiver, send a test, then
          switch the output on, resend the failed events and send the missed ones.
        </Notice>
      )}
      {enabled && failingSince && (
        <Notice tone="warn" title="All attempts are failing" className="mt-4">
          The output started failing <Time at={failingSince} />, and no attempt has succeeded since then.
          After five days, Sluice turns the output off.
        </Notice>
      )}
    </div>
  )
}

function DeleteOutput({ output: { id, name, pipeId } }: { output: WebhookOutput }) {
  return (
    <div className="border-t pt-4">
      <ConfirmDialog
        trigger={
          <Button tone="danger" icon={Trash2}>
            Delete this output
          </Button>
        }
        title={`Delete the output “${name}”`}
        confirm="Delete"
        action={deleteWebhook.bind(null, id, pipeId)}
      >
        <p>
          Unsent events are discarded. The output's log is kept for 30 days, and other outputs are not
          affected.
        </p>
      </ConfirmDialog>
    </div>
  )
}
