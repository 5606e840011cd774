import type { Actor } from '../../identity/audit/record-audit.ts'
import { isSluiceError } from '../../platform/kernel/errors.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { checkDataStore } from '../data-stores/check-data-store.ts'
import { useNameOf } from '../data-stores/object-uses.ts'
import type { Pipe } from './pipe.ts'

/** Tries what a Pipe sets on its objects by a check of each of its Data Stores. Returns what the buckets refuse, for people. */
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
