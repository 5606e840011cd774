import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Target } from './load.ts'

export type Crowd = { target: Target; clients: number; bytesPerSecond: number }

/** Starts clients that send small amounts until they are stopped. Like real clients, they run in a separate process. */
export async function trickle(crowd: Crowd): Promise<{ stop(): Promise<void> }> {
  const child = fork(join(import.meta.dirname, 'trickling-clients.ts'), [JSON.stringify(crowd)])
  await once(child, 'message')
  return {
    async stop() {
      const exited = once(child, 'exit')
      child.kill()
      await exited
    },
  }
}
