'use client'

import { clsx } from 'clsx'
import { Check, FileUp, Play, Plug, Unplug, X } from 'lucide-react'
import { useRef, useState, useSyncExternalStore } from 'react'
import { formatBytes } from '#components/format.ts'
import { Button } from '#components/ui/button.tsx'
import type { Uploader } from '#components/uploader/create-uploader.ts'
import { isUnderWay, SILENT, type Wire } from '#components/uploader/wire.ts'
import { TONES, WirePanel } from '#components/uploader/wire-panel.tsx'
import { takeDemoToken } from './demo-token.ts'

const SAMPLE_BYTES = 10_000_000
const silent = { watch: () => () => {}, wire: () => SILENT }

/** A real upload to the demo bucket, over a line that visitors can cut. The uploader loads with the first file. */
export function LiveDemo({ endpoint }: { endpoint: string }) {
  const [uploader, setUploader] = useState<Uploader>()
  const [down, setDown] = useState(false)
  const input = useRef<HTMLInputElement>(null)
  const { watch, wire: read } = uploader ?? silent
  const wire = useSyncExternalStore(watch, read, read)
  const busy = isUnderWay(wire)

  async function upload(name: string, data: Blob) {
    const made = uploader ?? (await load(endpoint))
    setUploader(made)
    for (const { id } of made.uploads.uploads()) made.uploads.cancel(id)
    made.uploads.add([new File([data], name, { type: data.type })])
  }

  return (
    <section aria-label="Live demo" className="rounded-xl border bg-surface p-5 shadow-float">
      <div className="flex items-center justify-between gap-3">
        <p className="min-w-0 truncate font-medium">{wire.filename || 'Send a file, then pull the plug.'}</p>
        <State wire={wire} busy={busy} />
      </div>
      <div className="mt-4">
        <WirePanel wire={wire} lines={false} />
      </div>
      <div className="mt-5 flex flex-wrap gap-2">
        {busy ? (
          <>
            <Button onClick={() => uploader?.cut()} icon={Unplug}>
              Cut the connection
            </Button>
            <Button
              aria-pressed={down}
              icon={down ? Plug : Unplug}
              onClick={() => {
                setDown(!down)
                uploader?.setDown(!down)
              }}
            >
              {down ? 'Plug it in' : 'Pull the plug'}
            </Button>
          </>
        ) : (
          <>
            <Button tone="primary" onClick={() => upload('sample.bin', sample())} icon={Play}>
              Send {formatBytes(SAMPLE_BYTES)} of random data
            </Button>
            <Button onClick={() => input.current?.click()} icon={FileUp}>
              Choose a file
            </Button>
          </>
        )}
        <input
          ref={input}
          type="file"
          className="sr-only"
          tabIndex={-1}
          aria-label="File for the demo"
          onChange={(event) => {
            const file = event.target.files?.[0]
            event.target.value = ''
            if (file) void upload(file.name, file)
          }}
        />
      </div>
      <ol className="mt-4 h-36 space-y-0.5 overflow-hidden border-t pt-3 font-mono text-xs" aria-hidden>
        {wire.lines.length === 0 && (
          <li className="font-sans text-ink-faint text-sm">
            This is a real upload to this server's bucket. Responses appear here.
          </li>
        )}
        {wire.lines
          .slice(-7)
          .toReversed()
          .map(({ id, text, tone }) => (
            <li key={id} className={TONES[tone]}>
              {text}
            </li>
          ))}
      </ol>
    </section>
  )
}

function State({ wire, busy }: { wire: Wire; busy: boolean }) {
  if (!busy && !wire.failed && !wire.done) return null
  const Icon = wire.failed ? X : wire.done ? Check : undefined
  return (
    <span
      className={clsx(
        'inline-flex items-center gap-1.5 text-sm',
        wire.failed ? 'text-bad' : wire.done ? 'text-good' : 'text-ink-soft',
      )}
    >
      {Icon && <Icon className="size-3.5" aria-hidden />}
      {wire.failed ? 'refused' : wire.done ? 'in the bucket' : wire.waiting ? 'waiting' : 'on its way'}
    </span>
  )
}

async function load(endpoint: string): Promise<Uploader> {
  const { createUploader } = await import('#components/uploader/create-uploader.ts')
  const uploader = createUploader({ place: 'demo', endpoint, remember: false, takeToken: takeDemoToken })
  uploader.uploads.open()
  return uploader
}

/** Random data, so that nothing on the way can compress it. */
function sample(): Blob {
  const chunk = crypto.getRandomValues(new Uint8Array(65_536))
  const chunks = Array.from({ length: Math.ceil(SAMPLE_BYTES / chunk.length) }, () => chunk)
  return new Blob(chunks, { type: 'application/octet-stream' }).slice(0, SAMPLE_BYTES)
}
