import { CopyButton } from './copy-button.tsx'

/** An id among other text, with its button. */
export function CopyableId({ id, what }: { id: string; what: string }) {
  return (
    <span className="inline-flex max-w-full items-center gap-1 align-middle">
      <code className="min-w-0 break-all font-mono text-xs">{id}</code>
      <CopyButton text={id} what={what} />
    </span>
  )
}
