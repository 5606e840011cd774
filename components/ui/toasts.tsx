'use client'

import { useEffect, useRef } from 'react'
import { Toaster as Sonner, toast } from 'sonner'

export type News = (show: typeof toast) => void

/** Screen readers only announce changes in a live region that already exists. */
const REGION_READY_MS = 100

/** The toasts themselves, loaded with the first message. */
export function Toasts({ news }: { news: News[] }) {
  const told = useRef(0)
  useEffect(() => {
    const timer = setTimeout(
      () => {
        for (const one of news.slice(told.current)) one(toast)
        told.current = news.length
      },
      told.current === 0 ? REGION_READY_MS : 0,
    )
    return () => clearTimeout(timer)
  }, [news])
  return (
    <Sonner
      position="bottom-right"
      gap={8}
      toastOptions={{
        classNames: {
          toast:
            '!bg-raised !text-ink !border-line !shadow-float !rounded-lg !font-sans !text-sm !gap-2.5 !py-3',
          actionButton: '!bg-water !text-on-water',
          success: '[&_svg]:!text-good',
          error: '[&_svg]:!text-bad',
        },
      }}
    />
  )
}
