import { index, pgTable, text } from 'drizzle-orm/pg-core'
import { workspaces } from './accounts.ts'
import { belongsTo, bytea } from './columns.ts'

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
