/** A line of RFC 4180. A spreadsheet that opens it must not execute filenames. */
export function csvLine(values: (string | number | null)[]): string {
  return `${values.map((value) => (typeof value === 'string' ? quote(value) : (value ?? ''))).join(',')}\r\n`
}

/** A leading = + - @, of either width, even after characters that a spreadsheet trims, would start a formula. */
function quote(text: string): string {
  const safe = /^[=+\-@＝＋－＠\t\r\n]/.test(text) ? `'${text}` : text
  return /[",\r\n']/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
