import type { Actor } from '../../identity/audit/record-audit.ts'
import type { Runtime } from '../../platform/runtime.ts'
import type { File } from './file.ts'
import type { FileQuery } from './file-query.ts'
import { listFiles } from './list-files.ts'

const AT_ONCE = 500

/** All files that fit, page by page, each read when it is asked for; by time, since the order by size ends somewhere. */
export async function* eachFile(
  runtime: Pick<Runtime, 'db'>,
  actor: Actor,
  query: FileQuery,
): AsyncGenerator<File[]> {
  const order = query.order === 'oldest' ? 'oldest' : 'newest'
  let cursor: string | undefined
  do {
    const page = await listFiles(runtime, actor, { ...query, order, cursor, limit: AT_ONCE })
    yield page.data
    cursor = page.nextCursor ?? undefined
  } while (cursor)
}
