'use client'

import { useState } from 'react'
import { TextField } from '#components/ui/field.tsx'

type Props = { pipeId: string; template: string; prefix: string }

/** Shows an example key in the server's format. The server validates the template when it is saved. */
export function KeyTemplateField({ pipeId, template, prefix }: Props) {
  const [text, setText] = useState(template)
  return (
    <div>
      <TextField
        name="keyTemplate"
        label="Object key"
        mono
        value={text}
        onChange={(event) => setText(event.target.value)}
        spellCheck={false}
        hint={
          <>
            Fields: {'{file_id} {filename} {ext} {path} {yyyy} {mm} {dd} {sender} {pipe_id}'}. It must contain{' '}
            {'{file_id}'}, so that no object is ever overwritten. {'{path}'} is the folder path that the
            client sends.
          </>
        }
      />
      <p className="mt-2 rounded-md bg-sunken px-2.5 py-2 text-xs" aria-live="polite">
        <span className="text-ink-faint">For example </span>
        <span className="break-all font-mono">{prefix + fill(text, pipeId)}</span>
      </p>
    </div>
  )
}

function fill(template: string, pipeId: string): string {
  const values: Record<string, string> = {
    file_id: '0196f0c3-7b1e-7c42-9d55-1f0a6f2f8a10',
    filename: 'launch-cut.mov',
    ext: 'mov',
    path: 'films/launch',
    yyyy: '2026',
    mm: '11',
    dd: '21',
    sender: 'web backend',
    pipe_id: pipeId,
  }
  return template.replace(/\{([^{}]*)\}/g, (whole, name: string) => values[name] ?? whole)
}
