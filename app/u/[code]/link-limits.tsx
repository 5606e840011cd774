import { useSyncExternalStore } from 'react'
import type { ShownLink } from '#lib/upload-links/open-link.ts'
import { countIn, describeSize, fill, type LinkPage } from '#packages/react/src/words.ts'

type Types = LinkPage['types']
type Props = { link: ShownLink; texts: LinkPage; lang: string }

/** Shows what the link still accepts, in words for people who do not know media types. */
export function LinkLimits({ link: { allowedTypes, filesLeft, bytesLeft, expiresAt }, texts, lang }: Props) {
  const facts = [
    allowedTypes.length > 0 && fill(texts.only, { types: describeTypes(allowedTypes, texts.types, lang) }),
    filesLeft !== null && countIn(texts.filesLeft, filesLeft, lang),
    bytesLeft !== null && fill(texts.spaceLeft, { size: describeSize(bytesLeft, lang) }),
  ].filter((fact) => fact !== false)
  if (facts.length === 0 && expiresAt === null) return null
  return (
    <ul className="flex flex-wrap gap-x-5 gap-y-1 text-ink-soft text-sm">
      {facts.map((fact) => (
        // The browser's spaces in numbers may differ from the server's.
        <li key={fact} suppressHydrationWarning>
          {fact}
        </li>
      ))}
      {expiresAt !== null && (
        <li>
          <Expiry at={expiresAt} text={texts.openUntil} lang={lang} />
        </li>
      )}
    </ul>
  )
}

const never = () => () => {}

/** Until the script loads, the time is in UTC, because the viewer's time zone is not known. */
function Expiry({ at, text, lang }: { at: string; text: string; lang: string }) {
  const format = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(lang, { dateStyle: 'long', ...options }).format(new Date(at))
  const time = useSyncExternalStore(
    never,
    () => format({ timeStyle: 'short' }),
    () => format({ timeStyle: 'long', timeZone: 'UTC' }),
  )
  return (
    <time dateTime={at} suppressHydrationWarning>
      {fill(text, { time })}
    </time>
  )
}

const KINDS: Record<string, Exclude<keyof Types, 'format'>> = {
  'image/*': 'images',
  'video/*': 'videos',
  'audio/*': 'audio',
  'text/*': 'texts',
}
/** The formats whose names are not in their media types. */
const FORMATS: Record<string, string> = {
  'audio/mpeg': 'MP3',
  'video/quicktime': 'MOV',
  'text/plain': 'TXT',
  'application/msword': 'Word',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'Word',
  'application/vnd.ms-excel': 'Excel',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'Excel',
  'application/vnd.ms-powerpoint': 'PowerPoint',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation': 'PowerPoint',
}

export function describeTypes(allowed: readonly string[], types: Types, lang: string): string {
  const told = allowed.map((type) => {
    const kind = KINDS[type]
    return kind ? types[kind] : fill(types.format, { format: formatOf(type) })
  })
  return new Intl.ListFormat(lang).format(new Set(told))
}

/** `PNG` for `image/png`; the media type itself if its last part is not the name of a format. */
function formatOf(type: string): string {
  const name = type.replace(/^.*\/(x-)?|\+xml$/g, '')
  return FORMATS[type] ?? (/^\w{2,5}$/.test(name) ? name.toUpperCase() : type)
}
