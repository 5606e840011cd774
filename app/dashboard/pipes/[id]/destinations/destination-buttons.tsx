'use client'

import { ArrowDown, ArrowUp } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { ActionForm } from '#components/ui/action-form.tsx'
import { moveDestination, removeDestination, requireDestination } from '../actions.ts'

type Props = {
  pipeId: string
  store: { id: string; name: string }
  required: boolean
  position: number
  isFirst: boolean
  isLast: boolean
  /** Whether it is the only required destination. */
  isNeeded: boolean
}

export function DestinationButtons({ pipeId, store, required, position, isFirst, isLast, isNeeded }: Props) {
  const row = useFocusAfterMove(position)
  const move = (direction: 'up' | 'down') => (
    <div data-move={direction}>
      <ActionForm
        action={moveDestination.bind(null, pipeId, store.id, direction)}
        submit={
          <span className="sr-only">
            Move {store.name} {direction}
          </span>
        }
        icon={direction === 'up' ? <ArrowUp aria-hidden /> : <ArrowDown aria-hidden />}
        submitSize="sm"
        onDone={() => row.remember({ direction, from: position })}
      />
    </div>
  )
  return (
    <div ref={row.ref} className="flex flex-wrap items-start gap-2 pl-7">
      {!isFirst && move('up')}
      {!isLast && move('down')}
      {!isNeeded && (
        <ActionForm
          action={requireDestination.bind(null, pipeId, store.id, !required)}
          submit={`Make ${required ? 'best effort' : 'required'}`}
          about={`: ${store.name}`}
          submitSize="sm"
        />
      )}
      {!isNeeded && (
        <ActionForm
          action={removeDestination.bind(null, pipeId, store.id)}
          submit="Remove"
          about={` ${store.name}`}
          submitSize="sm"
        />
      )}
    </div>
  )
}

type Moved = { direction: 'up' | 'down'; from: number }

/**
 * The browser removes focus from a moved element. This restores it, so that pressing the same key again moves the
 * destination further.
 */
function useFocusAfterMove(position: number) {
  const ref = useRef<HTMLDivElement>(null)
  const [moved, remember] = useState<Moved>()
  useEffect(() => {
    if (!moved || moved.from === position) return
    const buttonTo = (way: string) => ref.current?.querySelector<HTMLElement>(`[data-move${way}] button`)
    const target = buttonTo(`=${moved.direction}`) ?? buttonTo('')
    target?.focus()
    remember(undefined)
  }, [position, moved])
  return { ref, remember }
}
