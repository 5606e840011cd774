'use client'

import Link from 'next/link'
import { useState } from 'react'
import { lookAtTrial, type TrialResult } from '#app/actions/look-at-trial.ts'
import { useLive } from '../live/use-live.ts'
import { Facts } from '../ui/facts.tsx'
import { Panel } from '../ui/panel.tsx'
import { Status } from '../ui/status.tsx'

/** What became of it on the other side, as it happens: the object's key, the webhook, and what resuming saved. */
export function useTrial(fileId: string | undefined): TrialResult | undefined {
  const [seen, setSeen] = useState<{ fileId: string; result: TrialResult | undefined }>()
  useLive(`file:${fileId}`, !fileId, () => {
    if (!fileId) return
    const keep = (result: TrialResult | undefined) => setSeen({ fileId, result })
    // Offline: it is looked at again when the line is back.
    lookAtTrial(fileId).then(keep, () => undefined)
  })
  return seen?.fileId === fileId ? seen?.result : undefined
}

export function TrialOutcome({ fileId, result }: { fileId: string; result: TrialResult }) {
  const { status, key, delivery } = result
  return (
    <Panel title="Delivered">
      <Facts
        facts={[
          ['File', <Status key="s" state={status} />],
          [
            'Object',
            <span key="k" className="break-all font-mono text-xs">
              {key}
            </span>,
          ],
          [
            'Webhook',
            delivery ? (
              <span key="w" className="flex flex-wrap items-center gap-2">
                <Status state={delivery.state} />
                {delivery.lastStatus && <span className="font-mono text-xs">{delivery.lastStatus}</span>}
              </span>
            ) : (
              '–'
            ),
          ],
        ]}
      />
      <Link
        href={`/dashboard/files/${fileId}`}
        className="mt-3 inline-block text-sm text-water underline decoration-water-line underline-offset-3 hover:decoration-current"
      >
        Its whole timeline
      </Link>
    </Panel>
  )
}
