export type Listed = { isFolder: boolean; sizeBytes: number; modifiedMs: number }

const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')

/** A line as printed by `ls -l`. */
export function listingLine(name: string, { isFolder, sizeBytes, modifiedMs }: Listed): string {
  const at = new Date(modifiedMs)
  const two = (value: number) => String(value).padStart(2)
  const date = `${MONTHS[at.getUTCMonth()]} ${two(at.getUTCDate())}  ${at.getUTCFullYear()}`
  const mode = isFolder ? 'drwxr-x---' : '-rw-r-----'
  return `${mode}    1 sluice   sluice   ${String(sizeBytes).padStart(12)} ${date} ${name}`
}
