/** A line of CSV (RFC 4180). A spreadsheet that opens it must not run filenames as formulas. */
export function csvLine(values: (string | number | null)[]): string {
  return `${values.map((value) => (typeof value === 'string' ? quote(value) : (value ?? ''))).join(',')}\r\n`
}

/**
 * Spreadsheets run a value as a formula if it starts with =, +, - or @, in half or full width. They may also trim a tab
 * or line break in front of it.
 */
function quote(text: string): string {
  const safe = /^[=+\-@＝＋－＠\t\r\n]/.test(text) ? `'${text}` : text
  return /[",\r\n']/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
