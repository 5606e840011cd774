import { memo, type RefObject, useEffect, useRef } from 'react'
import { describeSize, describeUpload, percentOf } from './describe-upload.ts'
import { type FileUpload, isOver } from './file-upload.ts'
import { CrossIcon, PauseIcon, PlayIcon, RetryIcon } from './icons.tsx'
import type { UseUpload } from './use-upload.ts'
import type { Words } from './words.ts'

export type Control = Pick<UseUpload, 'pause' | 'resume' | 'retry' | 'cancel'>

type Props = {
  upload: FileUpload
  /** Its number in the list, and how many there are: the page need not hold all. */
  at: number
  count: number
  control: Control
  words: Words
}

export const UploadRow = memo(function UploadRow({ upload, at, count, control, words }: Props) {
  const { id, name, path, size, state } = upload
  const step = stepOf(upload, control, words)
  const row = useFocusKept(step === undefined)
  return (
    // biome-ignore lint/a11y/useSemanticElements: the rows of a list stand in groups, which <ul> does not allow
    <div
      ref={row}
      role="listitem"
      aria-posinset={at}
      aria-setsize={count}
      tabIndex={-1}
      className="sluice-upload"
      data-state={state}
    >
      <span className="sluice-name">
        <bdi>{path ?? name}</bdi>
        {!upload.unreadable && <span className="sluice-size">{describeSize(size)}</span>}
      </span>
      <span className="sluice-steps">
        {step && (
          <button
            type="button"
            className="sluice-step"
            aria-label={step.label}
            title={step.label}
            onClick={step.act}
          >
            {step.icon}
          </button>
        )}
        <CancelButton
          label={isOver(upload) ? words.remove(name) : words.cancel(name)}
          onClick={() => control.cancel(id)}
        />
      </span>
      <progress
        className="sluice-progress"
        aria-label={words.progress(name)}
        max={100}
        value={percentOf(upload)}
      />
      <span className="sluice-state">{describeUpload(upload, words)}</span>
    </div>
  )
})

function CancelButton({ label, onClick }: { label: string; onClick(): void }) {
  return (
    <button type="button" className="sluice-step" aria-label={label} title={label} onClick={onClick}>
      <CrossIcon />
    </button>
  )
}

/** What can be done with it besides taking it away. */
function stepOf(
  { id, name, state, unreadable }: FileUpload,
  { pause, resume, retry }: Control,
  words: Words,
) {
  if (unreadable) return undefined
  if (state === 'paused') return { label: words.resume(name), icon: <PlayIcon />, act: () => resume(id) }
  if (state === 'failed') return { label: words.retry(name), icon: <RetryIcon />, act: () => retry(id) }
  if (state === 'done' || state === 'missing') return undefined
  return { label: words.pause(name), icon: <PauseIcon />, act: () => pause(id) }
}

/** A button that goes while it has the focus leaves it to its row. */
function useFocusKept(stepIsGone: boolean): RefObject<HTMLDivElement | null> {
  const row = useRef<HTMLDivElement>(null)
  const had = useRef(false)
  useEffect(() => {
    if (stepIsGone && had.current && document.activeElement === document.body) row.current?.focus()
    had.current = row.current?.contains(document.activeElement) ?? false
  })
  return row
}
