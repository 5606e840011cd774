import type { FileUpload } from './file-upload.ts'
import type { linkPage, Plural, words } from './languages/en.ts'

/** All texts in the components. In them, `{name}`, `{reason}` and so on stand for what is filled in. */
export type Words = typeof words
export type LinkPage = typeof linkPage

/** Some of the texts, which replace those of the page's language. With a `lang`, they are the texts of a language. */
export type SomeWords = Partial<Omit<Words, 'reasons'>> & { reasons?: Partial<Words['reasons']> }

export function fill(text: string, values: Record<string, string>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole)
}

/** Fills in `{count}`, in the plural form for it. */
export function countIn(forms: Plural, count: number, lang: string): string {
  const form = new Intl.PluralRules(lang).select(count) as keyof Plural
  return fill(forms[form] ?? forms.other, { count: formatNumber(count, lang) })
}

export function percentOf({ sentBytes, size, state }: FileUpload): number {
  if (size === 0) return state === 'done' ? 100 : 0
  return Math.floor((sentBytes / size) * 100)
}

export function describeUpload(upload: FileUpload, words: Words): string {
  const { state } = upload
  const percent = formatNumber(percentOf(upload) / 100, words.lang, { style: 'percent' })
  return fill(words[state], { percent, reason: reasonIn(upload, words) })
}

/** These have in common that uploaders can do nothing about them. */
const NOT_ACCEPTING = [
  'workspace_suspended',
  'pipe_source_off',
  'pipe_not_found',
  'data_store_not_ready',
  'token_revoked',
]

function reasonIn({ reason = '', code = '', status = 0 }: FileUpload, { reasons }: Words): string {
  const known = NOT_ACCEPTING.includes(code) ? 'not_accepting' : code
  const text = Object.hasOwn(reasons, known) ? reasons[known as keyof typeof reasons] : reason
  return fill(text, { status: String(status) })
}

const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte']

export function describeSize(bytes: number, lang: string): string {
  let unit = 0
  let amount = bytes
  for (; amount >= 999.5 && unit < UNITS.length - 1; unit++) amount /= 1000
  const unitDisplay = unit === 0 ? 'long' : 'short'
  return formatNumber(amount, lang, {
    style: 'unit',
    unit: UNITS[unit],
    unitDisplay,
    maximumSignificantDigits: 3,
  })
}

/** A list of thousands of uploads is formatted again and again, and creating a format is slow. */
const formats = new Map<string, Intl.NumberFormat>()

function formatNumber(value: number, lang: string, options: Intl.NumberFormatOptions = {}): string {
  const key = `${lang} ${options.unit ?? options.style}`
  const format = formats.get(key) ?? new Intl.NumberFormat(lang, options)
  formats.set(key, format)
  return format.format(value)
}
