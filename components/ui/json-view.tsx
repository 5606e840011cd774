'use client'

import { Braces } from 'lucide-react'
import { useState } from 'react'
import { Button } from './button.tsx'
import { CodeBlock } from './code-block.tsx'
import { Dialog } from './dialog.tsx'

type Props = { kind: 'file' | 'event' | 'delivery'; id: string; size?: 'sm' | 'md' }

/** An item as the API returns it, fetched when the dialog opens. */
export function JsonView({ kind, id, size = 'md' }: Props) {
  const [open, setOpen] = useState(false)
  const [text, setText] = useState<string>()
  async function show(next: boolean) {
    setOpen(next)
    if (!next) return
    setText(undefined)
    const answer = await fetch(`/dashboard/json/${kind}/${id}`)
    setText(JSON.stringify(await answer.json(), null, 2))
  }
  return (
    <Dialog
      as="drawer"
      title={`JSON of this ${kind}`}
      open={open}
      onOpenChange={show}
      trigger={
        <Button size={size} icon={Braces}>
          JSON
        </Button>
      }
    >
      {text === undefined ? (
        <p className="text-ink-faint text-sm" role="status">
          Loading…
        </p>
      ) : (
        <CodeBlock code={text} language="json" title={`${kind}.json`} />
      )}
    </Dialog>
  )
}
