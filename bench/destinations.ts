import type { Case, Finding } from './cases.ts'
import { inTurns, seconds } from './in-turns.ts'
import { MiB, percentile, upload } from './load.ts'
import { type Measured, type Sink, startSink } from './processes.ts'
import type { Trouble } from './sink.ts'
import { type SluiceNode, startSluiceNode } from './sluice-site.ts'

/** Benchmarks of Pipes with several destinations, each with its own node. */
const GiB = 1024 * MiB
const PART_BYTES = 8 * MiB
const WAYS = [
  { name: '1 GiB in one PATCH', chunkBytes: GiB },
  { name: '1 GiB in chunks of 8 MiB', chunkBytes: PART_BYTES },
]
const SAMPLE_MS = 50

type Cost = { cpuSeconds: number; peakBytes: number }

/** Returns the CPU time that an upload costs the node, and the node's peak memory. */
async function costOf(node: Measured, work: () => Promise<void>): Promise<Cost> {
  const before = await node.usage()
  let peakBytes = before.rssBytes
  let isOver = false
  const working = work().finally(() => {
    isOver = true
  })
  while (!isOver) {
    await Promise.race([working, new Promise((resolve) => setTimeout(resolve, SAMPLE_MS))])
    peakBytes = Math.max(peakBytes, (await node.usage()).rssBytes)
  }
  return { cpuSeconds: (await node.usage()).cpuSeconds - before.cpuSeconds, peakBytes }
}

/** Returns the median CPU time and peak memory for each contender. The contenders take turns. */
async function costsOf<Contender extends { node: Measured }>(
  contenders: Contender[],
  work: (contender: Contender) => Promise<void>,
): Promise<Cost[]> {
  const peaks = new Map<Contender, number[]>(contenders.map((one) => [one, []]))
  const cpuSeconds = await inTurns(async (one) => {
    const cost = await costOf(one.node, () => work(one))
    peaks.get(one)!.push(cost.peakBytes)
    return cost.cpuSeconds
  }, contenders)
  return contenders.map((one, n) => ({
    cpuSeconds: cpuSeconds[n]!,
    peakBytes: percentile(peaks.get(one)!, 0.5),
  }))
}

const inMiB = (bytes: number) => `${(bytes / MiB).toFixed(0)} MiB`

/** Measures the cost of two and of five destinations, compared with that of one. */
async function benchDestinations(postgresUrl: string, sink: Sink): Promise<Finding[]> {
  const nodes: SluiceNode[] = []
  const findings: Finding[] = []
  try {
    for (const count of [1, 2, 5]) {
      const places = Array.from({ length: count }, () => ({ url: sink.url, required: true }))
      nodes.push(await startSluiceNode(postgresUrl, places))
    }
    findings.push(await requestsOf(nodes[2]!, sink, 5))
    for (const { name, chunkBytes } of WAYS) {
      const costs = await costsOf(nodes, ({ target }) => upload(target, GiB, chunkBytes))
      findings.push(...compared(name, costs as [Cost, Cost, Cost]))
    }
    return findings
  } finally {
    for (const { node, drop } of nodes) {
      await node.stop()
      await drop()
    }
  }
}

/** Each destination should get N + 2 requests for N parts. */
async function requestsOf({ target }: SluiceNode, sink: Sink, destinations: number): Promise<Finding> {
  const all = async () => Object.values(await sink.counts()).reduce((sum, count) => sum + count, 0)
  const before = await all()
  const parts = 8
  await upload(target, parts * PART_BYTES)
  const each = ((await all()) - before) / destinations
  return {
    what: `S3 requests for ${parts} parts at each of ${destinations} destinations`,
    measured: String(each),
    wanted: `${parts + 2}`,
    holds: each === parts + 2,
  }
}

function compared(name: string, [one, two, five]: [Cost, Cost, Cost]): Finding[] {
  const cpu = (cost: Cost) => cost.cpuSeconds / one.cpuSeconds
  const memory = (cost: Cost) => cost.peakBytes / one.peakBytes
  const told = (times: (cost: Cost) => number, words: (cost: Cost) => string) =>
    `${times(two).toFixed(2)} times (one ${words(one)}, two ${words(two)}, five ${words(five)})`
  return [
    {
      what: `CPU of two required destinations relative to one, ${name}`,
      measured: told(cpu, ({ cpuSeconds }) => `${cpuSeconds.toFixed(2)} s`),
      wanted: '≤ 1.6 times',
      holds: cpu(two) <= 1.6,
      bars: [
        { name: 'one', value: one.cpuSeconds, unit: 's/GiB' },
        { name: 'two', value: two.cpuSeconds, unit: 's/GiB' },
        { name: 'five', value: five.cpuSeconds, unit: 's/GiB' },
      ],
    },
    {
      what: `memory of two required destinations relative to one, ${name}`,
      measured: told(memory, ({ peakBytes }) => inMiB(peakBytes)),
      wanted: '≤ 1.1 times',
      holds: memory(two) <= 1.1,
    },
  ]
}

const TROUBLES: Trouble[] = ['hangs', 'returns 503', 'refuses', 'accepts 1 MiB/s']

/** Measures how fast a file reaches its required destination next to a failing best-effort one. */
async function benchBesideTrouble(postgresUrl: string, sink: Sink): Promise<Finding[]> {
  const troubled: Sink[] = []
  const nodes: SluiceNode[] = [await startSluiceNode(postgresUrl, sink.url)]
  try {
    for (const trouble of TROUBLES) {
      const bad = await startSink(undefined, trouble)
      troubled.push(bad)
      const places = [
        { url: sink.url, required: true },
        { url: bad.url, required: false },
      ]
      nodes.push(await startSluiceNode(postgresUrl, places))
    }
    for (const { target } of nodes) await upload(target, 64 * MiB)
    const took = await inTurns(({ target }) => seconds(() => upload(target, GiB)), nodes)
    const [alone, ...beside] = took.map((each) => GiB / MiB / each) as [number, ...number[]]
    return TROUBLES.map((trouble, n) => ({
      what: `throughput next to a best-effort bucket that ${trouble}, relative to none`,
      measured: `${(beside[n]! / alone).toFixed(2)} times (${beside[n]!.toFixed(0)} to ${alone.toFixed(0)} MiB/s)`,
      wanted: '≥ 0.9 times',
      holds: beside[n]! >= alone * 0.9,
    }))
  } finally {
    for (const { node, drop } of nodes) {
      await node.stop()
      await drop()
    }
    for (const bad of troubled) await bad.stop()
  }
}

export const DESTINATION_CASES: Case[] = [
  { name: 'destinations: 1, 2 and 5', run: ({ postgresUrl, sink }) => benchDestinations(postgresUrl, sink) },
  {
    name: 'destinations: next to a failing best-effort one',
    run: ({ postgresUrl, sink }) => benchBesideTrouble(postgresUrl, sink),
  },
]
