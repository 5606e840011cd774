'use client'

import { discardMissedEvents, sendMissedEvents } from '#app/dashboard/webhooks/actions.ts'
import type { Missed } from '#lib/webhooks/outputs/missed-events.ts'
import { plural } from '../format.ts'
import { ActionForm } from '../ui/action-form.tsx'
import { Button } from '../ui/button.tsx'
import { ConfirmDialog } from '../ui/confirm-dialog.tsx'
import { Notice } from '../ui/notice.tsx'
import { IfMay } from '../ui/rights.tsx'
import { Time } from '../ui/time.tsx'

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
                submitTone="plain"
                submitSize="sm"
              />
            )}
            <ConfirmDialog
              trigger={
                <Button tone="quiet" size="sm">
                  Discard
                </Button>
              }
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
