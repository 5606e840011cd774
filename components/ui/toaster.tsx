'use client'

import { Toaster as Sonner, toast } from 'sonner'

/** A toast that can be dismissed takes the focus on its way and gives it back: nobody gets past it by Tab. */
const PASSED_BY = { dismissible: false }

/** Short news about what the person just did; anything that must be read stands on the page instead. */
export const notify = {
  done: (message: string) => toast.success(message, PASSED_BY),
  failed: (message: string) => toast.error(message, PASSED_BY),
  /** With a way back, for what can be undone. */
  undoable: (message: string, undo: () => void) =>
    toast(message, { duration: 8000, action: { label: 'Undo', onClick: undo } }),
}

export function Toaster() {
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
