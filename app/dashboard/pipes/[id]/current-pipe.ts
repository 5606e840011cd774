import { currentActor } from '#app/session.ts'
import type { Right } from '#lib/identity/rights.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { showPipe } from '#lib/workspace/pipes/read-pipes.ts'
import { orNotFound } from '../../or-not-found.ts'

export type PipeProps = { params: Promise<{ id: string }> }

/** The Pipe in the address, for users with the right. */
export async function currentPipe({ params }: PipeProps, right: Right) {
  const { id } = await params
  const [runtime, actor] = [getRuntime(), await currentActor(right)]
  return { runtime, actor, id, pipe: await orNotFound(showPipe(runtime, actor, id)) }
}
