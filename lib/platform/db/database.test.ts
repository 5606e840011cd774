import { type SQL, sql } from 'drizzle-orm'
import { PgDialect } from 'drizzle-orm/pg-core'
import { expect, it } from 'vitest'
import { files } from '#drizzle/schema/index.ts'
import { compile } from './database.ts'

const dialect = new PgDialect({ casing: 'snake_case' })
const nested = (n: number) => sql`(${n}::int, ${null}, ${true})`

it.each<[string, SQL]>([
  ['plain text', sql`select 1`],
  ['parameters', sql`select ${'a'}, ${1}, ${null}, ${false} from t`],
  ['other statements', sql`with a as (${nested(1)}) select ${2} from ${nested(3)}`],
  ['a list of other statements', sql`values ${sql.join([nested(1), nested(2)], sql`, `)} limit ${5}`],
  ['raw text', sql`select ${sql.raw('a, b')} from t where c = ${'d'}`],
  ['an empty fragment', sql`select 1 ${sql.empty()}`],
])('builds the same statement as Drizzle from %s', (_, statement) => {
  const { sql: text, params } = dialect.sqlToQuery(statement)
  expect(compile(statement)).toEqual({ sql: text, params })
})

it.each<[string, SQL]>([
  ['a column', sql`select ${files.id}`],
  ['a table', sql`select 1 from ${files}`],
  ['a list', sql`select 1 in ${[1, 2]}`],
  ['an identifier', sql`select ${sql.identifier('a')}`],
  ['a parameter with a type', sql`select ${sql.param(1, files.lengthBytes)}`],
])('leaves %s to Drizzle', (_, statement) => {
  expect(compile(statement)).toBeUndefined()
})
