/** A line of CSV (RFC 4180). A spreadsheet that opens it must not run filenames as formulas. */
export function csvLine(values: (string | number | null)[]): string {
  return `${values.map((value) => (typeof value === 'string' ? quote(value) : (value ?? ''))).join(',')}\r\n`
}

/**
 * A value would be a formula if it started with = + - @, in either width, or with characters that spreadsheets trim.
 */
function quote(text: string): string {
  const safe = /^[=+\-@＝＋－＠\t\r\n]/.test(text) ? `'${text}` : text
  return /[",\r\n']/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
