/** A shared access signature's parts that may be shown. */
export type ShownSas = { permissions: string | null; expiresAt: string | null }

/** Permissions and expiry are null if they are those of a stored access policy. */
export function showSas(sasToken: string): ShownSas {
  const query = new URLSearchParams(sasToken)
  const expiry = query.get('se')
  return { permissions: query.get('sp'), expiresAt: expiry && new Date(expiry).toISOString() }
}

/** Reads the query of a SAS from what a portal or tool shows: the query itself, perhaps with its ? or an address. */
export function readSas(text: string): { sasToken: string } | { problem: string } {
  const sasToken = text.slice(text.indexOf('?') + 1)
  const query = new URLSearchParams(sasToken)
  const of = (name: string) => query.get(name)
  if (!of('sig') || !of('sv')) return { problem: 'is not a SAS, which contains sv= and sig=' }
  const expiry = of('se')
  if (!of('si') && !expiry) return { problem: 'has no expiry (se=)' }
  if (expiry && Number.isNaN(Date.parse(expiry))) return { problem: 'has an expiry (se=) that is not a date' }
  const resource = of('sr') ?? (of('srt')?.includes('o') && of('ss')?.includes('b') ? 'c' : 'other')
  if (resource !== 'c') return { problem: 'is not for a whole container (sr=c)' }
  if (of('sp') !== null && !of('sp')!.includes('w'))
    return { problem: `has only the permissions ${of('sp')}; uploads need c (create) and w (write)` }
  return { sasToken }
}
