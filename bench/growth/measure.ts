import type { Explained, Ran } from './explained.ts'
import type { HotPath } from './hot-paths.ts'
import { draw, monthsRead, rowsRead, rowsSorted, scansWhole } from './plan.ts'

/** The summary of a hot path's statement over all its executions. */
export type Measured = {
  path: string
  text: string
  scans: string[]
  read: number
  sorted: number
  months: number
  /** The median time. */
  ms: number
  /** The last execution's plan, as lines of text. */
  plan: string[]
}

/** PostgreSQL decides after the fifth execution whether to use one plan for all parameters. */
const ROUNDS = 7

export async function measure(database: Explained, paths: HotPath[]): Promise<Measured[]> {
  const measured: Measured[] = []
  for (const { name, run } of paths) {
    const ran = await database.watch(async () => {
      for (let round = 0; round < ROUNDS; round++) await run()
    })
    for (const [text, times] of Map.groupBy(ran, (one) => one.text)) measured.push(sumUp(name, text, times))
  }
  return measured
}

function sumUp(path: string, text: string, times: Ran[]): Measured {
  const plans = times.map(({ plan }) => plan)
  const ms = times.map((one) => one.ms).sort((a, b) => a - b)
  return {
    path,
    text,
    scans: [...new Set(plans.flatMap(scansWhole))],
    read: Math.max(...plans.map(rowsRead)),
    sorted: Math.max(...plans.map(rowsSorted)),
    months: Math.max(...plans.map(monthsRead)),
    ms: ms[Math.floor(ms.length / 2)]!,
    plan: draw(plans.at(-1)!),
  }
}
