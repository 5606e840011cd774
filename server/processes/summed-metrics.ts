import { AggregatorRegistry, type Registry } from 'prom-client'
import type { Line } from './line.ts'

/**
 * The combined metrics of all processes. Counters never decrease, because they still include what ended processes had
 * counted.
 */
export type SummedMetrics = {
  join(name: string, line: Line): void
  leave(name: string): void
  read(): Promise<string>
}

type Metric = Awaited<ReturnType<Registry['getMetricsAsJSON']>>[number]

export function createSummedMetrics(own: Registry): SummedMetrics {
  const lines = new Map<string, Line>()
  const lastOf = new Map<string, Metric[]>()
  let ofTheGone: Metric[][] = []
  const ask = async ([name, line]: [string, Line]) => {
    const metrics = (await line.ask('metrics')) as Metric[] | null | undefined
    if (metrics && lines.get(name) === line) lastOf.set(name, metrics)
  }
  return {
    join: (name, line) => void lines.set(name, line),
    leave(name) {
      lines.delete(name)
      const counted = lastOf.get(name)?.filter(({ type }) => COUNTED.has(String(type)))
      if (counted) ofTheGone.push(counted)
      lastOf.delete(name)
    },
    async read() {
      await Promise.all([...lines].map(ask))
      const gone = sum(ofTheGone)
      ofTheGone = [await gone.getMetricsAsJSON()]
      return sum([await own.getMetricsAsJSON(), ...lastOf.values(), ...ofTheGone]).metrics()
    },
  }
}

const COUNTED = new Set(['counter', 'histogram'])
/** The maximum is shown, so that a single blocked process is visible among others that are not blocked. */
const LAG = /^nodejs_eventloop_lag/

function sum(sets: Metric[][]): Registry {
  const aggregated = (metric: Metric) => (LAG.test(metric.name) ? { ...metric, aggregator: 'max' } : metric)
  return AggregatorRegistry.aggregate(sets.map((metrics) => metrics.map(aggregated)))
}
