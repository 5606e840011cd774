import { type AnyPgColumn, bigint, customType, timestamp, uuid } from 'drizzle-orm/pg-core'

/**
 * Numbers of bytes and other counts. They are exact up to 2^53; the largest object that any provider allows has 2^46
 * bytes.
 */
export const bytes = () => bigint({ mode: 'number' })

export const instant = () => timestamp({ withTimezone: true, mode: 'date', precision: 3 })

export const createdAt = () => instant().notNull().defaultNow()

export const id = () => uuid().primaryKey()

/** The id of a row whose deletion also deletes this row. */
export const belongsTo = (column: () => AnyPgColumn) =>
  uuid().notNull().references(column, { onDelete: 'cascade' })

/** Columns of this type are only accessed through handwritten SQL: see `lib/uploads`. */
export const bytea = customType<{ data: Buffer; driverData: Buffer }>({ dataType: () => 'bytea' })
