import type { Log } from './log.ts'

/** The factor by which one process's work may exceed another's. */
const MAX_TIMES = 1.5

type Line = { process?: string; route?: string; bytesIn?: number }

/** Checks that, according to the logs, all upload processes have done about the same amount of work. */
export function checkShares({ nodes }: { nodes: { output(): string }[] }, log: Log, processes: number): void {
  const done = Array.from({ length: processes }, () => ({ requests: 0, bytes: 0 }))
  for (const { process, route, bytesIn } of nodes.flatMap((node) => linesOf(node.output()))) {
    const share = done[Number(process?.match(/^upload-(\d+)$/)?.[1]) - 1]
    if (!share || !route?.startsWith('/pipes/')) continue
    share.requests += 1
    share.bytes += bytesIn ?? 0
  }
  for (const what of ['requests', 'bytes'] as const) {
    const shares = done.map((share) => share[what])
    log.note(`${what} of each upload process: ${shares.join(', ')}`)
    if (Math.max(...shares) > MAX_TIMES * Math.min(...shares))
      log.violation(
        `the shares of ${what} differ by a factor of more than ${MAX_TIMES}: ${shares.join(', ')}`,
      )
  }
}

function linesOf(output: string): Line[] {
  return output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Line)
}
