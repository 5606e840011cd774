import type { Runtime } from '../../platform/runtime.ts'
import { uploadsOfDeletedPipes, uploadsOfPipe } from '../ledger/uploads-of-pipe.ts'
import { endUpload } from './end-upload.ts'
import { endingContext } from './ending-context.ts'

const BATCH = 100

type Needs = Pick<Runtime, 'db' | 'clock' | 'queue' | 'metrics'>

/** Cancels a batch of uploads whose Pipe was deleted. Also runs as a sweep, for uploads that a crash left behind. */
export async function cancelUploadsOfDeletedPipes(runtime: Needs): Promise<number> {
  return cancelAll(runtime, await uploadsOfDeletedPipes(runtime.db, BATCH))
}

/** Used by the deletion of a Pipe, or of an account with its Pipes. */
export function cancelUploadsOfPipe(runtime: Needs): (pipeId: string) => Promise<number> {
  return async (pipeId) => {
    let canceled = 0
    for (;;) {
      const due = await uploadsOfPipe(runtime.db, pipeId, BATCH)
      if (due.length === 0) return canceled
      canceled += await cancelAll(runtime, due)
    }
  }
}

async function cancelAll(runtime: Needs, due: readonly string[]): Promise<number> {
  const end = { status: 'canceled', reason: 'Its Pipe was deleted.', from: ['uploading'] } as const
  let canceled = 0
  for (const fileId of due) if (await endUpload(endingContext(runtime), fileId, end)) canceled++
  return canceled
}
