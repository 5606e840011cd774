import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { Target } from './load.ts'

export type Crowd = { target: Target; clients: number; bytesPerSecond: number }

/** Clients that each send a little, for as long as they are let; a process of their own, as they are elsewhere. */
export async function trickle(crowd: Crowd): Promise<{ stop(): Promise<void> }> {
  const child = fork(new URL('./trickling-clients.ts', import.meta.url).pathname, [JSON.stringify(crowd)])
  await once(child, 'message')
  return {
    async stop() {
      const exited = once(child, 'exit')
      child.kill()
      await exited
    },
  }
}
