import { REACHABLE } from '#components/ui/reachable.ts'
import { LINK } from '#components/ui/text-link.tsx'

/** A web address, without the punctuation at the end of its sentence. */
const ADDRESS = /(https?:\/\/\S*[^\s.,;:!?)])/

/** The text of an email, with working links. */
export function MailText({ text }: { text: string }) {
  let at = 0
  return (
    <pre {...REACHABLE} className="overflow-x-auto whitespace-pre-wrap break-words font-sans text-sm">
      {text.split(ADDRESS).map((part, index) => {
        const key = at
        at += part.length
        // Every second part is a match.
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
