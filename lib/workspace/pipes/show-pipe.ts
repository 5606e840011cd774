import type { Actor } from '../../identity/audit/record-audit.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { findPipe } from './find-pipe.ts'
import { type Pipe, toPipe } from './pipe.ts'

export async function showPipe(
  { db, config }: Pick<Runtime, 'db' | 'config'>,
  actor: Actor,
  id: string,
): Promise<Pipe> {
  const { pipe, dataStoreId } = await findPipe(db, actor, id)
  return toPipe(pipe, dataStoreId, config)
}
