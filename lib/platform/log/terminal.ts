/**
 * Logs contain names from untrusted sources, and people read logs on terminals. JSON only escapes characters below
 * U+0020. This matches the C1 control characters, which some terminals obey, and characters that break lines or change
 * the text direction.
 */
const STEERING = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/** Escapes each character that `STEERING` matches in JSON. Scripts also use this for their output. */
export function shownJson(json: string): string {
  return json.replace(STEERING, escapeOf)
}

const escapeOf = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

const LEVELS: Record<number, string> = {
  10: 'trace',
  20: 'debug',
  30: 'info',
  40: 'warn',
  50: 'error',
  60: 'fatal',
}

type Entry = { level: number; time: string; msg?: string; service?: string; [field: string]: unknown }
type LoggedError = { stack: string; [field: string]: unknown }

/**
 * A line of the log for people: the time, the level, the message, the fields, and below them the stacks of errors.
 * Everything is printed escaped, so that no value can forge a line or control the terminal.
 */
export function readableLine(line: string): string {
  const { level, time, msg = '', service: _, err, error, ...fields } = JSON.parse(line) as Entry
  const errors = Object.entries({ err, error }).filter(([, value]) => value !== undefined)
  for (const [name, value] of errors) if (!isError(value)) fields[name] = value
  const listed = Object.entries(fields).map(([name, value]) => `${plain(name)}=${escaped(value)}`)
  const clock = `${time.slice('2026-11-28T'.length, '2026-11-28T10:00:00'.length)}Z`
  const head = [clock, (LEVELS[level] ?? String(level)).padEnd('error'.length), plain(msg), ...listed]
  const below = errors.flatMap(([, value]) => (isError(value) ? stackOf(value) : []))
  return `${[head.join(' '), ...below.map((text) => `  ${plain(text)}`)].join('\n')}\n`
}

const escaped = (value: unknown) => shownJson(JSON.stringify(value))

/** Escaped, but without the quotation marks around it. */
const plain = (text: string) => escaped(text).slice(1, -1).replaceAll('\\"', '"')

const isError = (value: unknown): value is LoggedError =>
  typeof (value as LoggedError | null | undefined)?.stack === 'string'

function stackOf({ stack, message: _, type: __, cause, ...fields }: LoggedError): string[] {
  const own = Object.entries(fields).map(([name, value]) => `    ${name}=${JSON.stringify(value)}`)
  if (!isError(cause)) return [...stack.split('\n'), ...own]
  const [first, ...rest] = stackOf(cause)
  return [...stack.split('\n'), ...own, `Caused by: ${first}`, ...rest]
}
