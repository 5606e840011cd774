import { eq } from 'drizzle-orm'
import { pipes } from '#drizzle/schema/index.ts'
import { type Actor, recordAudit } from '../../identity/audit/record-audit.ts'
import { isSluiceError } from '../../platform/kernel/errors.ts'
import type { ConfiguredRuntime, Runtime } from '../../platform/runtime.ts'
import { checkDataStore, useNameOf } from '../data-stores/check-data-store.ts'
import { assertStorable, saveDestinations } from './destinations.ts'
import { type Pipe, type PipeChanges, toPipe } from './pipe.ts'
import { findPipe } from './read-pipes.ts'

/** Uploads in progress keep their bucket, key and limits. */
export async function updatePipe(
  { db, clock, config }: ConfiguredRuntime,
  actor: Actor,
  id: string,
  changes: PipeChanges,
): Promise<Pipe> {
  const { destinations, source, ...fields } = changes
  return db.transaction(async (tx) => {
    const before = await findPipe(tx, actor, id, 'update')
    if (destinations) await saveDestinations(tx, actor, id, destinations)
    const [row] = await tx
      .update(pipes)
      .set({
        ...fields,
        sourceHttp: source?.http,
        sourceUrl: source?.url,
        sourceSftp: source?.sftp,
        sourceFtps: source?.ftps,
        sourceFtp: source?.ftp,
        updatedAt: new Date(clock.now()),
      })
      .where(eq(pipes.id, id))
      .returning()
    if (destinations || changes.object)
      await assertStorable(tx, destinations ?? before.destinations, row!.object)
    const entry = { action: 'pipe.updated', subjectId: id, subjectLabel: row!.name, detail: { changes } }
    await recordAudit({ db: tx, clock }, actor, entry)
    return toPipe(row!, destinations ?? before.destinations, config)
  })
}

/**
 * Tests a Pipe's object settings by checking each of its Data Stores. Returns descriptions of the settings that buckets
 * refuse.
 */
export async function tryObject(
  runtime: Pick<Runtime, 'db' | 'clock' | 'vault' | 'config'>,
  actor: Actor,
  { name, destinations }: Pipe,
): Promise<string[]> {
  const refusals = destinations.map(async ({ dataStoreId }) => {
    try {
      const store = await checkDataStore(runtime, actor, dataStoreId)
      const tried = store.check?.operations.find((operation) => operation.name === useNameOf(name))
      return tried && !tried.ok ? [`${store.name}: ${tried.message}`] : []
    } catch (error) {
      if (isSluiceError(error)) return [error.message]
      throw error
    }
  })
  return (await Promise.all(refusals)).flat()
}
