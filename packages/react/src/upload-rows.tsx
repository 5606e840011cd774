import { type RefObject, useEffect, useRef, useState } from 'react'
import type { FileUpload } from './file-upload.ts'
import { type Control, UploadRow } from './upload-row.tsx'
import type { Words } from './words.ts'

/** Where the rows are in the list, and whether they are all of it. */
type Place = { start: number; count: number; isWhole: boolean }

type Props = { uploads: readonly FileUpload[]; place: Place; control: Control; words: Words }

/** Some rows of a list: in the page while they are near what can be seen, or have the focus, and otherwise a gap of their height. */
export function UploadRows({ uploads, place: { start, count, isWhole }, control, words }: Props) {
  const group = useRef<HTMLDivElement>(null)
  const { isNear, rowPx } = useNearness(group, { isWhole, rows: uploads.length, atFirst: start === 0 })
  const [hasFocus, setFocus] = useState(false)
  if (!isNear && !hasFocus)
    return <div ref={group} className="sluice-rows" style={{ height: heightOf(uploads.length, rowPx) }} />
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only looks where the focus is
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

/** So much beyond the edges of the window counts as near it, so that who scrolls or tabs finds the next rows there. */
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
        // Nothing has a height in a part of the page that is not displayed.
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

/** Of a row that was never seen, in the size that it has with the text on one line. */
const ROW_REM = 5.6

function heightOf(rows: number, rowPx: number | undefined): string {
  return rowPx === undefined ? `${rows * ROW_REM}rem` : `${rows * rowPx}px`
}
