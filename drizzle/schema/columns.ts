import { type AnyPgColumn, bigint, customType, timestamp, uuid } from 'drizzle-orm/pg-core'

/** Bytes and counts stay exact up to 2^53; the largest object of any provider is 2^46. */
export const bytes = () => bigint({ mode: 'number' })

export const instant = () => timestamp({ withTimezone: true, mode: 'date', precision: 3 })

export const createdAt = () => instant().notNull().defaultNow()

export const id = () => uuid().primaryKey()

/** The id of the row that it is deleted with. */
export const belongsTo = (column: () => AnyPgColumn) =>
  uuid().notNull().references(column, { onDelete: 'cascade' })

/** Only accessed through handwritten SQL: see `lib/uploads`. */
export const bytea = customType<{ data: Buffer; driverData: Buffer }>({ dataType: () => 'bytea' })
