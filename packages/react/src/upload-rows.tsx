import { memo, type RefObject, useEffect, useRef, useState } from 'react'
import { type FileUpload, isOver } from './file-upload.ts'
import { ICONS, stepOf } from './show-upload.ts'
import type { UseUpload } from './use-upload.ts'
import { describeSize, describeUpload, fill, percentOf, type Words } from './words.ts'

/** The rows' range in the list, and whether that is the entire list. */
type Place = { start: number; count: number; isWhole: boolean }

type Props = { uploads: readonly FileUpload[]; place: Place; control: Control; words: Words }

/**
 * A group of rows in a list: rendered while it is near the visible area or has the focus, and otherwise a gap of the
 * same height.
 */
export function UploadRows({ uploads, place: { start, count, isWhole }, control, words }: Props) {
  const group = useRef<HTMLDivElement>(null)
  const { isNear, rowPx } = useNearness(group, { isWhole, rows: uploads.length, atFirst: start === 0 })
  const [hasFocus, setFocus] = useState(false)
  if (!isNear && !hasFocus)
    return <div ref={group} className="sluice-rows" style={{ height: heightOf(uploads.length, rowPx) }} />
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only tracks the focus
    <div
      ref={group}
      className="sluice-rows"
      onFocus={() => setFocus(true)}
      onBlur={({ relatedTarget }) => setFocus(group.current?.contains(relatedTarget) ?? false)}
    >
      {uploads.map((upload, at) => (
        <UploadRow
          key={upload.id}
          upload={upload}
          at={start + at + 1}
          count={count}
          control={control}
          words={words}
        />
      ))}
    </div>
  )
}

/** How far beyond the window's edges rows are rendered, so that scrolling or tabbing reaches the next ones. */
const MARGIN = '100% 0px'

function useNearness(
  group: RefObject<HTMLDivElement | null>,
  { isWhole, rows, atFirst }: { isWhole: boolean; rows: number; atFirst: boolean },
) {
  const [isNear, setNear] = useState(atFirst)
  const [rowPx, setRowPx] = useState<number>()
  const latestRows = useRef(rows)
  useEffect(() => {
    latestRows.current = rows
  })
  useEffect(() => {
    if (isWhole) return setNear(true)
    const observer = new IntersectionObserver(
      (seen) => {
        const { isIntersecting, boundingClientRect } = seen.at(-1)!
        // Elements in a hidden part of the page have no height.
        if (!isIntersecting && boundingClientRect.height > 0)
          setRowPx(boundingClientRect.height / latestRows.current)
        setNear(isIntersecting)
      },
      { rootMargin: MARGIN },
    )
    observer.observe(group.current!)
    return () => observer.disconnect()
  }, [group, isWhole])
  return { isNear, rowPx }
}

/** The height of a row before one has been measured, assuming that its text is on one line. */
const ROW_REM = 5.6

function heightOf(rows: number, rowPx: number | undefined): string {
  return rowPx === undefined ? `${rows * ROW_REM}rem` : `${rows * rowPx}px`
}

export type Control = Pick<UseUpload, 'pause' | 'resume' | 'retry' | 'cancel'>

type RowProps = {
  upload: FileUpload
  /** The row's number in the list, and the list's length, because the page may not contain all rows. */
  at: number
  count: number
  control: Control
  words: Words
}

export const UploadRow = memo(function UploadRow({ upload, at, count, control, words }: RowProps) {
  const { id, name, path, size, state } = upload
  const step = stepOf(upload)
  const row = useFocusKept(step === undefined)
  return (
    // biome-ignore lint/a11y/useSemanticElements: list rows are in groups, which <ul> does not allow
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
        {!upload.unreadable && <span className="sluice-size">{describeSize(size, words.lang)}</span>}
      </span>
      <span className="sluice-steps">
        {step && (
          <RowButton icon={step} label={fill(words[step], { name })} onClick={() => control[step](id)} />
        )}
        <RowButton
          icon="cancel"
          label={fill(isOver(upload) ? words.remove : words.cancel, { name })}
          onClick={() => control.cancel(id)}
        />
      </span>
      <progress
        className="sluice-progress"
        aria-label={fill(words.progress, { name })}
        max={100}
        value={percentOf(upload)}
      />
      <span className="sluice-state">{describeUpload(upload, words)}</span>
    </div>
  )
})

type ButtonProps = { icon: keyof typeof ICONS; label: string; onClick(): void }

function RowButton({ icon, label, onClick }: ButtonProps) {
  return (
    <button type="button" className="sluice-step" aria-label={label} title={label} onClick={onClick}>
      <Icon path={ICONS[icon]} />
    </button>
  )
}

/** If a focused button disappears, the focus moves to its row. */
function useFocusKept(stepIsGone: boolean): RefObject<HTMLDivElement | null> {
  const row = useRef<HTMLDivElement>(null)
  const had = useRef(false)
  useEffect(() => {
    if (stepIsGone && had.current && document.activeElement === document.body) row.current?.focus()
    had.current = row.current?.contains(document.activeElement) ?? false
  })
  return row
}

function Icon({ path }: { path: string }) {
  return (
    <svg className="sluice-icon" viewBox="0 0 16 16" fill="none" stroke="currentColor" aria-hidden="true">
      <path d={path} />
    </svg>
  )
}
