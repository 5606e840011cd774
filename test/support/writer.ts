import { sql } from 'drizzle-orm'
import { openDatabase } from '#lib/platform/db/open-database.ts'
import { createLogger } from '#lib/platform/log/log.ts'

/** Writes numbers as fast as it can and prints each once it is committed, until it is killed. */
const [dataDir, databaseUrl] = process.argv.slice(2) as [string, string?]
const { db } = await openDatabase({ dataDir, databaseUrl }, { log: createLogger('silent') })
await db.execute(sql`create table if not exists written (n int primary key)`)
for (let n = 1; ; n++) {
  await db.transaction(async (tx) => {
    await tx.execute(sql`insert into written (n) values (${n})`)
  })
  process.stdout.write(`${n}\n`)
}
