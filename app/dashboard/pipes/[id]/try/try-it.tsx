'use client'

import { useEffect, useState, useSyncExternalStore } from 'react'
import { useLive } from '#components/live/live.tsx'
import { Facts } from '#components/ui/facts.tsx'
import { Panel } from '#components/ui/panel.tsx'
import { Status } from '#components/ui/status.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { UploadDropzone, useUploadsOf } from '#packages/react/src/index.ts'
import { lookAtTrial, type TrialResult, takeTrialToken } from './actions.ts'
import '#packages/react/src/styles.css'
import '#components/uploader/uploader.css'
import { createUploader } from '#components/uploader/create-uploader.ts'
import { isUnderWay } from '#components/uploader/wire.ts'
import { WirePanel } from '#components/uploader/wire-panel.tsx'
import { NetworkButtons } from './network-buttons.tsx'

export function TryIt({ pipeId, endpoint }: { pipeId: string; endpoint: string }) {
  const [uploader] = useState(() =>
    createUploader({
      place: `try-${pipeId}`,
      endpoint,
      remember: true,
      takeToken: () => takeTrialToken(pipeId),
    }),
  )
  useEffect(() => uploader.uploads.open(), [uploader])
  const control = useUploadsOf(uploader.uploads)
  const wire = useSyncExternalStore(uploader.watch, uploader.wire, uploader.wire)
  const result = useTrial(wire.fileId)
  // These come from the server, as on the file page, because only it knows about interruptions before a reload.
  const counted = { ...wire, resumes: result?.resumeCount ?? 0, savedBytes: result?.savedBytes ?? 0 }
  return (
    <div className="grid items-start gap-5 xl:grid-cols-[1fr_22rem]">
      <section aria-label="Files to upload" className="own-uploader min-w-0 space-y-3">
        <UploadDropzone control={control} />
        <p className="text-ink-soft text-sm">
          Files resume where they left off. They are stored in this Pipe's bucket and count as transfer.
        </p>
        {wire.fileId && result && <TrialOutcome fileId={wire.fileId} result={result} />}
      </section>
      <div className="space-y-5">
        <Panel title="Bad network" description="While a file uploads, break its connection.">
          <NetworkButtons uploader={uploader} idle={!isUnderWay(wire)} />
        </Panel>
        <Panel title="On the wire">
          <WirePanel wire={counted} />
        </Panel>
      </div>
    </div>
  )
}

/** The live outcome on the receiving side: the object's key, the webhook, and the bytes saved by resuming. */
function useTrial(fileId: string | undefined): TrialResult | undefined {
  const [seen, setSeen] = useState<{ fileId: string; result: TrialResult | undefined }>()
  useLive(`file:${fileId}`, !fileId, () => {
    if (!fileId) return
    const keep = (result: TrialResult | undefined) => setSeen({ fileId, result })
    // If this fails while offline, it is repeated when the connection is back.
    lookAtTrial(fileId).then(keep, () => undefined)
  })
  return seen?.fileId === fileId ? seen?.result : undefined
}

function TrialOutcome({ fileId, result }: { fileId: string; result: TrialResult }) {
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
