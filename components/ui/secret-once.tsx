'use client'

import { TriangleAlert } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { Button } from './button.tsx'
import { Copyable } from './copyable.tsx'
import { Dialog } from './dialog.tsx'
import { Notice } from './notice.tsx'

type About = {
  what: string
  title: string
  /** True for secrets that their owner can view again. */
  revealable?: boolean
  note?: ReactNode
  /** For a secret that is a whole CSV file: its name. */
  file?: string
}

export type CreatedSecret<Made> = About & {
  secretOf: (made: Made) => string | undefined
  onSaved?: (made: Made) => void
}

/** For a form that creates a secret: the handlers for its result, and the dialog that shows the secret. */
export function useSecretOnce<Made>(created: CreatedSecret<Made> | undefined) {
  const [made, setMade] = useState<Made>()
  const secret = made && created?.secretOf(made)
  const saved = () => {
    setMade(undefined)
    created?.onSaved?.(made!)
  }
  return {
    answers: {
      onDone: (data: Made) => setMade(() => data),
      outcome(data: Made) {
        const secret = created?.secretOf(data)
        return secret && <SecretShown title={created!.title} secret={secret} />
      },
    },
    dialog: secret && <SecretOnce {...created!} secret={secret} onSaved={saved} />,
  }
}

type Props = About & { secret: string; onSaved(): void }

/** Shows a secret once. It cannot be dismissed by accident. */
function SecretOnce({ secret, what, title, revealable = false, note, file, onSaved }: Props) {
  const [saved, setSaved] = useState(false)
  return (
    <Dialog open wide dismissable={false} title={title}>
      <div className="flex flex-col gap-4">
        {file ? (
          <a
            download={file}
            href={`data:text/csv;charset=utf-8,${encodeURIComponent(secret)}`}
            className="font-medium text-sm text-water hover:underline"
          >
            Download {file}
          </a>
        ) : (
          <Copyable text={secret} what={what} />
        )}
        <p className="flex gap-2 text-sm text-warn">
          <TriangleAlert className="mt-0.5 size-4 shrink-0" aria-hidden />
          <span>
            {revealable
              ? 'Treat it like a password. You can reveal it again on this page, and each reveal is recorded in the audit log.'
              : 'It is shown only once. Sluice only stores its hash.'}
          </span>
        </p>
        {note && <p className="text-ink-soft text-sm">{note}</p>}
        <div className="flex flex-wrap items-center justify-between gap-3 border-t pt-4">
          <label className="flex items-center gap-2 text-sm">
            <input
              type="checkbox"
              checked={saved}
              onChange={(event) => setSaved(event.target.checked)}
              className="size-4 accent-(--water)"
            />
            I have saved it
          </label>
          <Button tone="primary" disabled={!saved} onClick={onSaved}>
            Done
          </Button>
        </div>
      </div>
    </Dialog>
  )
}

/** Shows a secret on the page that a form returns, for browsers without JavaScript. No other page contains it. */
export function SecretShown({ title, secret }: { title: string; secret: string }) {
  return (
    <Notice tone="good" title={title}>
      <code className="max-h-80 overflow-y-auto whitespace-pre-wrap break-all font-mono text-xs">
        {secret}
      </code>
      <p>Save it now: it is only shown here.</p>
    </Notice>
  )
}
