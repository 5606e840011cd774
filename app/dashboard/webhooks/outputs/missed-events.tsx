'use client'

import { plural } from '#components/format.ts'
import { ActionForm } from '#components/ui/action-form.tsx'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { Notice } from '#components/ui/notice.tsx'
import { IfMay } from '#components/ui/rights.tsx'
import { Time } from '#components/ui/time.tsx'
import type { Missed } from '#lib/webhooks/outputs/missed-events.ts'
import { discardMissedEvents, sendMissedEvents } from './actions.ts'

type Props = { pipeId: string | null; outputId: string | undefined; missed: Missed; canSend: boolean }

/** Events that were not sent because no output was on, and the available actions. */
export function MissedEvents({ pipeId, outputId, missed, canSend }: Props) {
  const count = `${missed.more ? 'More than ' : ''}${plural(missed.events, 'event')}`
  return (
    <Notice
      tone="info"
      className="mt-4"
      title={`${count} not sent`}
      action={
        <IfMay right="operate">
          <div className="flex gap-2">
            {canSend && outputId && (
              <ActionForm
                action={sendMissedEvents.bind(null, outputId)}
                submit="Send them now"
                submitSize="sm"
              />
            )}
            <ConfirmDialog
              trigger="Discard"
              title="Discard missed events"
              confirm="Discard"
              action={discardMissedEvents.bind(null, outputId ?? null, pipeId)}
            >
              <p>{count} will never be sent. The files and their objects are kept.</p>
            </ConfirmDialog>
          </div>
        </IfMay>
      }
    >
      The first event was <Time at={missed.since!} />. The events are kept for 30 days
      {canSend ? '.' : ', so you can send them once the webhook is on.'}
    </Notice>
  )
}
