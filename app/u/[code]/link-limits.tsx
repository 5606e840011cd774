import { formatBytes, plural } from '#components/format.ts'
import { LocalTime } from '#components/ui/time.tsx'
import type { ShownLink } from '#lib/upload-links/open-link.ts'

const TYPES: Record<string, string> = {
  'image/*': 'images',
  'video/*': 'videos',
  'audio/*': 'audio files',
  'text/*': 'text files',
  'application/pdf': 'PDF files',
  'application/zip': 'ZIP files',
}
const LIST = new Intl.ListFormat('en', { type: 'conjunction' })

/** Shows what the link still accepts, in words for people who do not know media types. */
export function LinkLimits({ link: { allowedTypes, filesLeft, bytesLeft, expiresAt } }: { link: ShownLink }) {
  const facts = [
    allowedTypes.length > 0 && `Accepts ${LIST.format(allowedTypes.map((type) => TYPES[type] ?? type))}`,
    filesLeft !== null && `${plural(filesLeft, 'file')} left`,
    bytesLeft !== null && `${formatBytes(bytesLeft)} left`,
  ].filter((fact) => fact !== false)
  if (facts.length === 0 && expiresAt === null) return null
  return (
    <ul className="flex flex-wrap gap-x-5 gap-y-1 text-ink-soft text-sm">
      {facts.map((fact) => (
        <li key={fact}>{fact}</li>
      ))}
      {expiresAt !== null && (
        <li>
          Open until <LocalTime at={expiresAt} />
        </li>
      )}
    </ul>
  )
}
