'use client'

import { useEffect, useState, useSyncExternalStore } from 'react'
import { Panel } from '#components/ui/panel.tsx'
import { UploadDropzone, useUploadsOf } from '#packages/react/src/index.ts'
import { takeTrialToken } from './actions.ts'
import '#packages/react/src/styles.css'
import '#components/uploader/uploader.css'
import { createUploader } from '#components/uploader/create-uploader.ts'
import { isUnderWay } from '#components/uploader/wire.ts'
import { WirePanel } from '#components/uploader/wire-panel.tsx'
import { NetworkButtons } from './network-buttons.tsx'
import { TrialOutcome, useTrial } from './trial-outcome.tsx'

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
