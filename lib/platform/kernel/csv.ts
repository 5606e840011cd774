/** A line of RFC 4180. Whoever opens it in a spreadsheet must not run what a filename says. */
export function csvLine(values: (string | number | null)[]): string {
  return `${values.map((value) => (typeof value === 'string' ? quote(value) : (value ?? ''))).join(',')}\r\n`
}

/** A leading = + - @, of either width and also after what a spreadsheet trims, would be a formula to it. */
function quote(text: string): string {
  const safe = /^[=+\-@＝＋－＠\t\r\n]/.test(text) ? `'${text}` : text
  return /[",\r\n']/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
