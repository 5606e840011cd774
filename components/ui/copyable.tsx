import { clsx } from 'clsx'
import { CopyButton } from './copy-button.tsx'

type Props = { text: string; what: string; className?: string }

/** A value that people take along: in full, in the code face, with its button. */
export function Copyable({ text, what, className }: Props) {
  return (
    <span
      className={clsx(
        'flex min-w-0 items-center gap-1 rounded-md border border-line bg-sunken py-0.5 pr-0.5 pl-2.5',
        className,
      )}
    >
      <code className="min-w-0 flex-1 break-all py-1 font-mono text-xs">{text}</code>
      <CopyButton text={text} what={what} />
    </span>
  )
}
