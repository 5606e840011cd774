/**
 * A backup is one file of text: what it was made of, then each table as `COPY` of PostgreSQL writes it, tables that others
 * refer to first, and a last line, without which it was cut short. `psql` reads it, too.
 */
export type Heading = { migrations: string[] }

const HEADING = '-- Sluice backup '
export const LAST_LINE = '-- The end.'
export const END_OF_TABLE = '\\.'

export const writeHeading = (heading: Heading): string => `${HEADING}${JSON.stringify(heading)}\n`

export function readHeading(line: string | undefined): Heading | undefined {
  return line?.startsWith(HEADING) ? (JSON.parse(line.slice(HEADING.length)) as Heading) : undefined
}

export const writeTableStart = (table: string, columns: string[]): string =>
  `COPY "${table}" (${columns.map((column) => `"${column}"`).join(', ')}) FROM stdin;\n`

/** The table and the statement of such a line. */
export function readTableStart(line: string): { table: string; statement: string } | undefined {
  const [, statement, table] = line.match(/^(COPY "(\w+)" \((?:"\w+"(?:, )?)+\) FROM stdin);$/) ?? []
  return statement && table ? { table, statement } : undefined
}
