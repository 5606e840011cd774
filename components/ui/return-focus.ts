import { useRef } from 'react'

/** Returns focus to its previous place when a dialog was opened without a button of its own. */
export function useReturnFocus() {
  const before = useRef<Element | null>(null)
  return {
    onOpenAutoFocus() {
      before.current = document.activeElement
    },
    onCloseAutoFocus(event: Event) {
      event.preventDefault()
      if (before.current instanceof HTMLElement) before.current.focus()
    },
  }
}
