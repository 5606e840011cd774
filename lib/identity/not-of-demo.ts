import { type SQL, sql } from 'drizzle-orm'

/** With DEMO off nobody gets into the demo workspace that an earlier start made, by whatever way. */
export function notOfDemo({ demo }: { demo: boolean }, workspaceId: SQL): SQL {
  if (demo) return sql`true`
  return sql`not exists (select from workspaces demo where demo.id = ${workspaceId} and demo.demo)`
}
