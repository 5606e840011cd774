'use client'

import Dashboard from '@uppy/react/dashboard'
import { type RefObject, useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { takeTrialToken } from '#app/actions/trial-token.ts'
import '@uppy/core/css/style.min.css'
import '@uppy/dashboard/css/style.min.css'
import './uppy.css'
import { Panel } from '../ui/panel.tsx'
import { createUploader, type Uploader } from './create-uploader.ts'
import { NetworkButtons } from './network-buttons.tsx'
import { TrialOutcome, useTrial } from './trial-outcome.tsx'
import { noteUnfinished } from './unfinished.ts'
import { WirePanel } from './wire-panel.tsx'

/** After a reload, of files that the browser did not keep. */
const WORDS = {
  strings: {
    recoveredXFiles: {
      0: 'This browser did not keep 1 file. Pick the same file again: it goes on where it was.',
      1: 'This browser did not keep %{smart_count} files. Pick the same files again: they go on where they were.',
    },
    reSelect: 'Pick it again',
  },
}

export function TryIt({ pipeId, endpoint, files }: { pipeId: string; endpoint: string; files: File[] }) {
  const [uploader] = useState(() => open(pipeId, endpoint, files))
  const root = useListOfOne()
  const wire = useSyncExternalStore(uploader.watch, uploader.wire, uploader.wire)
  const result = useTrial(wire.fileId)
  // As the file's page counts them: the server alone knows of the breaks before a reload.
  const counted = { ...wire, resumes: result?.resumeCount ?? 0, savedBytes: result?.savedBytes ?? 0 }
  return (
    <div className="grid items-start gap-5 xl:grid-cols-[1fr_22rem]">
      <div ref={root} className="sluice-uppy min-w-0">
        <Dashboard
          uppy={uploader.uppy}
          theme="light"
          width="100%"
          height={420}
          proudlyDisplayPoweredByUppy={false}
          hideCancelButton={false}
          locale={WORDS}
          note="Files go to this Pipe's bucket for real, and count."
        />
      </div>
      <div className="space-y-5">
        <Panel title="Bad network" description="Interfere while it uploads.">
          <NetworkButtons uploader={uploader} />
        </Panel>
        <Panel title="On the wire">
          <WirePanel wire={counted} />
        </Panel>
        {wire.fileId && result && <TrialOutcome fileId={wire.fileId} result={result} />}
      </div>
    </div>
  )
}

function open(pipeId: string, endpoint: string, files: File[]): Uploader {
  const uploader = createUploader({
    id: `try-${pipeId}`,
    endpoint,
    remember: true,
    takeToken: () => takeTrialToken(pipeId),
  })
  const { uppy } = uploader
  uppy.on('file-added', () => noteUnfinished(pipeId, true))
  uppy.on('complete', ({ failed = [] }) => noteUnfinished(pipeId, failed.length > 0))
  uppy.on('file-removed', () => noteUnfinished(pipeId, uppy.getFiles().length > 0))
  uppy.addFiles(files.map((data) => ({ name: data.name, type: data.type, data, source: 'Try it' })))
  return uploader
}

/** Uppy's item of a single file is a list item without its list. */
function useListOfOne(): RefObject<HTMLDivElement | null> {
  const root = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const name = () => {
      for (const list of root.current?.querySelectorAll('.uppy-Dashboard-files:not([role])') ?? [])
        list.setAttribute('role', 'list')
    }
    const observer = new MutationObserver(name)
    observer.observe(root.current!, { childList: true, subtree: true })
    return () => observer.disconnect()
  }, [])
  return root
}
