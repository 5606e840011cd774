import { textOf } from '#app/actions/form-fields.ts'
import { csvLine } from '#lib/platform/kernel/csv.ts'
import type { IssuedCredential } from '#lib/workspace/senders/sender.ts'

/** The limits in a form. Nothing chosen means no limit. */
export function limitsOf(data: FormData) {
  const chosen = (name: string) => (data.has(name) ? data.getAll(name) : null)
  const hours = textOf(data, 'silentHours')
  const silentHours = hours === undefined ? null : Number(hours)
  return { pipeIds: chosen('pipeIds'), sources: chosen('sources'), silentHours }
}

/** The first column of a CSV file, which may have a heading, or one name per line. */
export function namesOf(csv: string): string[] {
  const names = csv.split(/\r?\n/).map((line) => {
    const [, quoted, bare] = /^\s*(?:"((?:[^"]|"")*)"|([^,;]*))/.exec(line)!
    return (quoted?.replaceAll('""', '"') ?? bare!).trim()
  })
  if (names[0]?.toLowerCase() === 'name') names.shift()
  return names.filter(Boolean)
}

export const credentialsCsv = (made: IssuedCredential[]) =>
  [['name', 'id', 'token'], ...made.map(({ name, id, token }) => [name, id, token])].map(csvLine).join('')
