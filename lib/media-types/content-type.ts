const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const TYPE = new RegExp(`^(${TOKEN}/${TOKEN})\\s*(?=;|$)`)
/**
 * A quoted value may contain any printable ASCII. For other characters, the bytes sent would differ from the bytes
 * signed.
 */
const PARAMETER = new RegExp(
  `\\s*;\\s*(?:(${TOKEN})=(${TOKEN}|"(?:[ !#-[\\]-~]|\\\\[ -~])*"))?\\s*(?=;|$)`,
  'y',
)

const MAX_BYTES = 255
const UNKNOWN = 'application/octet-stream'

/**
 * The object's Content-Type: the declared type, if it follows the grammar of RFC 9110, 8.3.1. Malformed parameters
 * are dropped, and a value that is not a media type becomes `application/octet-stream`.
 */
export function contentTypeOf(filetype: string | null): string {
  const declared = filetype?.trim() ?? ''
  if (declared.length > MAX_BYTES) return UNKNOWN
  const type = TYPE.exec(declared)?.[1]
  if (!type) return UNKNOWN
  const parameters: string[] = []
  PARAMETER.lastIndex = TYPE.exec(declared)![0].length
  while (PARAMETER.lastIndex < declared.length) {
    const [, name, value] = PARAMETER.exec(declared) ?? []
    if (PARAMETER.lastIndex === 0) return type
    if (name) parameters.push(`${name}=${value}`)
  }
  return [type, ...parameters].join('; ')
}
