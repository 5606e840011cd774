import { REACHABLE } from '../ui/reachable.ts'
import { LINK } from '../ui/text-link.tsx'

/** Without the full stop of its sentence. */
const ADDRESS = /(https?:\/\/\S*[^\s.,;:!?)])/

/** A mail as a mailbox shows it: its links can be followed. */
export function MailText({ text }: { text: string }) {
  let at = 0
  return (
    <pre {...REACHABLE} className="overflow-x-auto whitespace-pre-wrap break-words font-sans text-sm">
      {text.split(ADDRESS).map((part, index) => {
        const key = at
        at += part.length
        // Every second part is what the pattern took.
        if (index % 2 === 0) return part
        return (
          <a key={key} href={part} className={`break-all ${LINK}`}>
            {part}
          </a>
        )
      })}
    </pre>
  )
}
