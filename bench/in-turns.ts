import { MiB, percentile } from './load.ts'
import type { Measured } from './processes.ts'

/** With this many rounds, a stall of the machine affects one of them, but not the median. */
export const ROUNDS = 5

/**
 * Returns the median for each contender. The contenders take turns, so that the machine's other load affects all of
 * them.
 */
export async function inTurns<Contender>(
  work: (contender: Contender) => Promise<number>,
  contenders: Contender[],
): Promise<number[]> {
  const found = contenders.map((contender) => ({ contender, figures: [] as number[] }))
  for (let round = 0; round < ROUNDS; round++)
    for (const { contender, figures } of found) figures.push(await work(contender))
  return found.map(({ figures }) => percentile(figures, 0.5))
}

/** Returns the CPU time per GiB that the work costs a process, without the client and the sink. */
export async function cpuPerGiB(node: Measured, bytes: number, work: () => Promise<void>): Promise<number> {
  const before = await node.usage()
  await work()
  return (((await node.usage()).cpuSeconds - before.cpuSeconds) * 1024 * MiB) / bytes
}

export async function seconds(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return (performance.now() - startedAt) / 1000
}
