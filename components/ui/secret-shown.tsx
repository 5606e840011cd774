import { Notice } from './notice.tsx'

/** A secret in the page that answers a form, for those without script: it is in no other. */
export function SecretShown({ title, secret }: { title: string; secret: string }) {
  return (
    <Notice tone="good" title={title}>
      <code className="break-all font-mono text-xs">{secret}</code>
      <p>Save it now: it is shown only here.</p>
    </Notice>
  )
}
