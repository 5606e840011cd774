import type { TestProject } from 'vitest/node'
import { migrate } from '#lib/platform/db/migrate.ts'
import { openPostgres } from '#lib/platform/db/open-postgres.ts'
import { createDatabase, startPostgres } from './postgres.ts'

declare module 'vitest' {
  interface ProvidedContext {
    postgresUrl: string
    /** A migrated, empty database; copying it is faster than migrating a new one. */
    migrated: string
  }
}

/** One PostgreSQL server for all database tests; each test creates its own database in it. */
export default async function setup(project: TestProject) {
  const server = await startPostgres()
  const template = await createDatabase(server.url)
  const { db, close } = openPostgres({ address: template.url })
  await migrate(db)
  await close()
  project.provide('postgresUrl', server.url)
  project.provide('migrated', template.name)
  return async () => {
    await template.drop()
    await server.stop()
  }
}
