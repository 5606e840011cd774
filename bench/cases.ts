import { benchContent } from './content.ts'
import { DESTINATION_CASES } from './destinations.ts'
import { benchEmbedded } from './embedded.ts'
import { benchExports } from './exports.ts'
import { benchImports } from './imports.ts'
import { cpuPerGiB, inTurns, ROUNDS, seconds } from './in-turns.ts'
import { benchDeliveryLists, benchFileLists } from './lists.ts'
import { create, head, inParallel, MiB, percentile, put, send, type Target, upload } from './load.ts'
import { benchBesideDead, benchOutputs } from './outputs.ts'
import { benchOverview } from './overview.ts'
import { benchPages } from './pages.ts'
import { benchPaint } from './paint.ts'
import { benchPooler } from './pooler.ts'
import type { Measured, Sink } from './processes.ts'
import { benchSftp } from './sftp.ts'
import { MEMORY_BYTES } from './sluice-site.ts'
import { benchTokens } from './tokens.ts'
import { trickle } from './trickle.ts'
import { benchWebhooks } from './webhooks.ts'

export type Contender = { name: 'bare' | 'sluice' | 'peer'; node: Measured; target: Target }
export type Field = { bare: Contender; sluice: Contender; peer: Contender; sink: Sink; postgresUrl: string }

/**
 * A goal, the measurement, and whether the goal was met; bars in one unit if they are worth a chart; and a breakdown of
 * the cost.
 */
export type Finding = {
  what: string
  measured: string
  wanted: string
  holds: boolean
  bars?: Bar[]
  profile?: string[]
}
export type Bar = { name: string; value: number; unit: string }
export type Case = { name: string; run(field: Field): Promise<Finding[]> }

const GiB = 1024 * MiB

const send1GiB = (contender: Contender, chunkBytes: number) => async () => {
  if (contender.name !== 'bare') return upload(contender.target, GiB, chunkBytes)
  for (let at = 0; at < GiB; at += chunkBytes)
    await send({ method: 'PUT', url: contender.target.collection, bytes: chunkBytes })
}

const cpu = (name: string, chunkBytes: number): Case => ({
  name,
  async run({ bare, sluice, peer }) {
    const of = (contender: Contender) => cpuPerGiB(contender.node, GiB, send1GiB(contender, chunkBytes))
    const [least, ours, theirs] = (await inTurns(of, [bare, sluice, peer])) as [number, number, number]
    const measured = (times: number) =>
      `${times.toFixed(2)} times (bare ${least.toFixed(2)}, Sluice ${ours.toFixed(2)}, peer ${theirs.toFixed(2)} s/GiB)`
    return [
      {
        what: `CPU per GiB relative to a bare pipe, ${name}`,
        measured: measured(ours / least),
        wanted: '≤ 1.5 times',
        holds: ours / least <= 1.5,
        bars: [
          { name: 'bare pipe', value: least, unit: 's/GiB' },
          { name: 'Sluice', value: ours, unit: 's/GiB' },
          { name: 'peer', value: theirs, unit: 's/GiB' },
        ],
      },
      {
        what: `CPU per GiB of the peer relative to Sluice, ${name}`,
        measured: measured(theirs / ours),
        wanted: '≥ 4 times',
        holds: theirs / ours >= 4,
      },
    ]
  },
})

const rate = (what: string, ours: number, theirs: number, unit: string, wanted: number): Finding => ({
  what,
  measured: `${(ours / theirs).toFixed(1)} times (${ours.toFixed(0)} to ${theirs.toFixed(0)} ${unit})`,
  wanted: `≥ ${wanted} times`,
  holds: ours / theirs >= wanted,
  bars: [
    { name: 'Sluice', value: ours, unit },
    { name: 'peer', value: theirs, unit },
  ],
})

const sixteen: Case = {
  name: '16 uploads of 64 MiB at once',
  async run({ bare, sluice, peer }) {
    const one = ({ name, target }: Contender) =>
      name === 'bare'
        ? send({ method: 'PUT', url: target.collection, bytes: 64 * MiB })
        : upload(target, 64 * MiB)
    const of = async (contender: Contender) =>
      1024 / (await seconds(() => inParallel(16, 16, async () => void (await one(contender)))))
    const [most, ours, theirs] = (await inTurns(of, [bare, sluice, peer])) as [number, number, number]
    const found = rate('throughput relative to the peer, 16 × 64 MiB at once', ours, theirs, 'MiB/s', 4)
    // With few cores, the client and the sink use most of them, so a bare pipe is no faster.
    return [{ ...found, measured: `${found.measured}; a bare pipe ${(most / theirs).toFixed(1)} times` }]
  },
}

const heads: Case = {
  name: 'HEAD',
  async run({ sluice, peer, sink }) {
    const of = async ({ name, target }: Contender) => {
      const url = await create(target, 100)
      await inParallel(200, 8, () => head(target, url))
      const count = name === 'peer' ? 1500 : 6000
      const before = sum(await sink.counts())
      const rate = count / (await seconds(() => inParallel(count, 16, () => head(target, url))))
      if (name === 'sluice') asked += sum(await sink.counts()) - before
      return rate
    }
    let asked = 0
    const [ours, theirs] = (await inTurns(of, [sluice, peer])) as [number, number]
    const p99s: number[] = []
    for (let round = 0; round < ROUNDS; round++) p99s.push(await steady(sluice.target, 1000, 5))
    const p99 = percentile(p99s, 0.5)
    return [
      rate('HEAD per second relative to the peer', ours, theirs, 'a second', 3),
      {
        what: 'p99 of HEAD at 1,000 requests per second',
        measured: `${p99.toFixed(1)} ms, the worst of ${ROUNDS} rounds ${Math.max(...p99s).toFixed(1)} ms`,
        wanted: '< 10 ms',
        holds: p99 < 10,
      },
      {
        what: 'S3 requests for a HEAD',
        measured: String(asked),
        wanted: '0',
        holds: asked === 0,
      },
    ]
  },
}

/**
 * Returns the 99th percentile of the response times in ms. Each is measured from when the request was due, so that a
 * slow response does not give the server a rest.
 */
async function steady(target: Target, perSecond: number, forSeconds: number): Promise<number> {
  const url = await create(target, 100)
  const times: number[] = []
  const pending: Promise<void>[] = []
  const startedAt = performance.now()
  for (let n = 0; n < perSecond * forSeconds; n++) {
    const due = startedAt + (n * 1000) / perSecond
    const waitMs = due - performance.now()
    if (waitMs > 1) await new Promise((resolve) => setTimeout(resolve, waitMs))
    pending.push(head(target, url).then(() => void times.push(performance.now() - due)))
  }
  await Promise.all(pending)
  return percentile(times, 0.99)
}

const small: Case = {
  name: '5,000 files of 4 KiB',
  async run({ sluice, peer }) {
    const send = (target: Target) => async () => void (await create(target, 4096, 4096))
    const of = async ({ name, target }: Contender) => {
      await inParallel(200, 32, send(target))
      const count = name === 'peer' ? 1000 : 5000
      return count / (await seconds(() => inParallel(count, 32, send(target))))
    }
    const [ours, theirs] = (await inTurns(of, [sluice, peer])) as [number, number]
    return [rate('files of 4 KiB by creation-with-upload, 32 at a time', ours, theirs, 'a second', 3)]
  },
}

const requests: Case = {
  name: 'S3 requests',
  async run({ sluice, peer, sink }) {
    const counted = async (work: () => Promise<unknown>) => {
      const before = sum(await sink.counts())
      await work()
      return sum(await sink.counts()) - before
    }
    const findings: Finding[] = []
    const compare = async (what: string, most: number, work: (target: Target) => Promise<unknown>) => {
      const ours = await counted(() => work(sluice.target))
      const theirs = await counted(() => work(peer.target))
      findings.push({
        what: `S3 requests: ${what}`,
        measured: `${ours} (peer ${theirs})`,
        wanted: `≤ ${most}`,
        holds: ours <= most,
        bars: [
          { name: 'Sluice', value: ours, unit: 'requests' },
          { name: 'peer', value: theirs, unit: 'requests' },
        ],
      })
    }
    await compare('file of one part', 1, (target) => create(target, 4096, 4096))
    await compare('eight parts', 10, (target) => upload(target, 64 * MiB))
    await compare('ten chunks of 1 MiB', 4, (target) => upload(target, 10 * MiB, MiB))
    return findings
  },
}

const slow: Case = {
  name: '1,000 slow clients',
  async run({ sluice }) {
    const { target, node } = sluice
    const crowd = await trickle({ target, clients: 1000, bytesPerSecond: 10_000 })
    const times: number[] = []
    const sizes: number[] = []
    const pause = async () => {
      sizes.push((await node.usage()).rssBytes)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    for (let n = 0; n < 300; n++) {
      times.push((await seconds(async () => void (await create(target, 1024, 1024)))) * 1000)
      await pause()
    }
    const beside = Math.max(...sizes.splice(0))
    // All bytes that the clients have sent become durable at the same time.
    await crowd.stop()
    for (let n = 0; n < 50; n++) await pause()
    const most = MEMORY_BYTES + 300 * MiB
    const p95 = percentile(times, 0.95)
    const memory = (what: string, rssBytes: number): Finding => ({
      what,
      measured: `${(rssBytes / MiB).toFixed(0)} MiB`,
      wanted: `< ${most / MiB} MiB`,
      holds: rssBytes < most,
    })
    return [
      memory('memory with 1,000 clients at 10 kB/s', beside),
      memory('memory when they all disconnect', Math.max(...sizes)),
      {
        what: 'a file of 1 KiB next to these clients, p95',
        measured: `${p95.toFixed(0)} ms`,
        wanted: '< 100 ms',
        holds: p95 < 100,
      },
    ]
  },
}

const memory: Case = {
  name: '50 GiB through one process',
  async run({ sluice }) {
    const { target, node } = sluice
    await upload(target, GiB)
    const first = (await node.usage()).rssBytes
    for (let n = 0; n < 50; n++) await upload(target, GiB)
    const last = (await node.usage()).rssBytes
    return [
      {
        what: 'memory after 50 GiB',
        measured: `${(first / MiB).toFixed(0)} → ${(last / MiB).toFixed(0)} MiB`,
        wanted: 'grows by < 64 MiB',
        holds: last - first < 64 * MiB,
      },
    ]
  },
}

const sum = (counts: Record<string, number>) => Object.values(counts).reduce((all, count) => all + count, 0)

/** A PUT sends the same bytes along the same path as a PATCH; only the response differs. */
const plain: Case = {
  name: 'one PUT of 1 GiB',
  async run({ sluice }) {
    const of = (send: typeof put) => cpuPerGiB(sluice.node, GiB, () => send(sluice.target, GiB))
    const [byPatch, byPut] = (await inTurns(of, [upload, put])) as [number, number]
    return [
      {
        what: 'CPU per GiB of a plain PUT relative to a PATCH',
        measured: `${(byPut / byPatch).toFixed(2)} times (PUT ${byPut.toFixed(2)}, PATCH ${byPatch.toFixed(2)} s/GiB)`,
        wanted: '≤ 1.15 times',
        holds: byPut / byPatch <= 1.15,
      },
    ]
  },
}

export const CASES: Case[] = [
  cpu('one PATCH of 1 GiB', GiB),
  cpu('chunks of 8 MiB', 8 * MiB),
  plain,
  sixteen,
  requests,
  heads,
  small,
  slow,
  memory,
  { name: 'embedded database', run: ({ sink }) => benchEmbedded(sink.url) },
  { name: 'webhooks', run: ({ postgresUrl }) => benchWebhooks(postgresUrl) },
  {
    name: 'outputs: a healthy one next to a dead one',
    run: ({ postgresUrl }) => benchBesideDead(postgresUrl),
  },
  { name: 'outputs: CPU time', run: ({ postgresUrl }) => benchOutputs(postgresUrl) },
  ...DESTINATION_CASES,
  { name: 'import from a URL', run: ({ postgresUrl, sink }) => benchImports(postgresUrl, sink.url) },
  { name: 'SFTP compared with OpenSSH', run: ({ postgresUrl, sink }) => benchSftp(postgresUrl, sink.url) },
  { name: 'file contents', run: ({ postgresUrl, sink }) => benchContent(postgresUrl, sink.url) },
  { name: 'behind a pooler', run: ({ postgresUrl, sink }) => benchPooler(postgresUrl, sink.url) },
  { name: 'tokens', run: ({ postgresUrl }) => benchTokens(postgresUrl) },
  { name: 'file lists', run: ({ postgresUrl }) => benchFileLists(postgresUrl) },
  { name: 'delivery lists', run: ({ postgresUrl }) => benchDeliveryLists(postgresUrl) },
  { name: 'Overview figures', run: ({ postgresUrl }) => benchOverview(postgresUrl) },
  { name: 'pages', run: ({ postgresUrl }) => benchPages(postgresUrl) },
  { name: 'exports', run: ({ postgresUrl }) => benchExports(postgresUrl) },
  { name: 'largest contentful paint', run: benchPaint },
]
