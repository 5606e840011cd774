import { sql } from 'drizzle-orm'
import { index, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core'
import { workspaces } from './accounts.ts'
import { belongsTo, bytea, instant } from './columns.ts'

/** How the pages of a workspace's upload links look, if it changed anything. */
export const linkPages = pgTable(
  'link_pages',
  {
    workspaceId: belongsTo(() => workspaces.id).primaryKey(),
    name: text(),
    color: text(),
    text: text().notNull().default(''),
    logo: bytea(),
    logoType: text(),
    /** In the address of the logo, whose bytes therefore never change. */
    logoDigest: text(),
  },
  (t) => [index().on(t.logoDigest)],
)

/** The host names that workspaces want for these pages. At most one of those with the same name is verified. */
export const linkHosts = pgTable(
  'link_hosts',
  {
    workspaceId: belongsTo(() => workspaces.id).primaryKey(),
    host: text().notNull(),
    verifiedAt: instant(),
  },
  (t) => [
    index().on(t.host),
    uniqueIndex('link_hosts_verified_index').on(t.host).where(sql`${t.verifiedAt} is not null`),
  ],
)
