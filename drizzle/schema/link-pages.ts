import { sql } from 'drizzle-orm'
import { index, integer, pgTable, text, uniqueIndex } from 'drizzle-orm/pg-core'
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
    /** The certificate chain, in PEM, if this server gets one for the host. */
    certificate: text(),
    /** Its private key, in PEM, sealed. */
    certificateKey: text(),
    /** When to order the next one. Null: as soon as possible. Changes with the certificate. */
    certificateDueAt: instant(),
    /** How many orders have failed since the last that did not, and why the last one did. */
    certificateFailures: integer().notNull().default(0),
    certificateFault: text(),
    /** The digest, in hex, that the current order's challenge expects in TLS handshakes. */
    challenge: text(),
  },
  (t) => [
    index().on(t.host),
    uniqueIndex('link_hosts_verified_index').on(t.host).where(sql`${t.verifiedAt} is not null`),
  ],
)

/** This server's account at the authority that issues these certificates. There is one row. */
export const acmeAccounts = pgTable('acme_accounts', {
  directory: text().primaryKey(),
  /** The private key, in PEM. */
  sealed: text().notNull(),
  /** When the next order may begin. Until then, one is under way, or the last one was too recent. */
  freeAt: instant().notNull(),
})
