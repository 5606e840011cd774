import { type RefObject, useEffect, useRef } from 'react'

/** Scrolls a row or column of links to center the current page's link, without scrolling the page. */
export function useCurrentInSight<Row extends HTMLElement>(path: string): RefObject<Row | null> {
  const row = useRef<Row>(null)
  useEffect(() => {
    const current = row.current?.querySelector('[aria-current=page]')
    if (!row.current || !current) return
    const [around, link] = [row.current.getBoundingClientRect(), current.getBoundingClientRect()]
    row.current.scrollLeft += link.left - around.left - (around.width - link.width) / 2
    row.current.scrollTop += link.top - around.top - (around.height - link.height) / 2
  }, [path])
  return row
}
