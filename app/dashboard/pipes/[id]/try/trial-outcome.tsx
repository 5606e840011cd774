'use client'

import { useState } from 'react'
import { useLive } from '#components/live/live.tsx'
import { Facts } from '#components/ui/facts.tsx'
import { Panel } from '#components/ui/panel.tsx'
import { Status } from '#components/ui/status.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { lookAtTrial, type TrialResult } from './actions.ts'

/** The live outcome on the receiving side: the object's key, the webhook, and the bytes saved by resuming. */
export function useTrial(fileId: string | undefined): TrialResult | undefined {
  const [seen, setSeen] = useState<{ fileId: string; result: TrialResult | undefined }>()
  useLive(`file:${fileId}`, !fileId, () => {
    if (!fileId) return
    const keep = (result: TrialResult | undefined) => setSeen({ fileId, result })
    // If this fails while offline, it is repeated when the connection is back.
    lookAtTrial(fileId).then(keep, () => undefined)
  })
  return seen?.fileId === fileId ? seen?.result : undefined
}

export function TrialOutcome({ fileId, result }: { fileId: string; result: TrialResult }) {
  const { status, key, delivery } = result
  return (
    <Panel title="On the server">
      <Facts
        facts={{
          File: <Status state={status} />,
          Object: <span className="break-all font-mono text-xs">{key}</span>,
          Webhook: delivery ? (
            <span className="flex flex-wrap items-center gap-2">
              <Status state={delivery.state} />
              {delivery.lastStatus && <span className="font-mono text-xs">{delivery.lastStatus}</span>}
            </span>
          ) : (
            '–'
          ),
        }}
      />
      {/* Leaving this page interrupts the upload. */}
      <TextLink
        href={`/dashboard/files/${fileId}`}
        target={status === 'uploading' ? '_blank' : undefined}
        className="mt-3 inline-block text-sm"
      >
        Full timeline
      </TextLink>
    </Panel>
  )
}
