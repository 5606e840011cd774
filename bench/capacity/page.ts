import { UPLOAD_TERMS } from '#lib/uploads/rules/upload-terms.ts'
import type { Figures } from './figures.ts'

/** docs/capacity.md: what breaks first, computed from the benchmark results. */
const GBIT_PER_GIB = (1024 ** 3 * 8) / 1e9
const DAY_S = 86_400

/** Assumptions, which were chosen rather than measured. The page states all of them. */
const ASSUMED = {
  /** How busy a processor gets before another one is added. */
  load: 0.7,
  /** The ratio of the busiest second to the day's average second. */
  peak: 10,
  processesOfANode: 8,
  maxConnections: 500,
  databaseProcessors: 16,
  fileMB: 20,
  givenUp: 0.1,
}

/** The load at which a resource is exhausted. */
type Break = { at: number; what: string; moves: string }

export function drawPage(figures: Figures): string {
  return [
    ...head(figures),
    ...bandwidth(figures),
    ...uploadsADay(figures),
    ...openAtOnce(figures),
    ...LIMITS,
    '',
  ].join('\n')
}

function head(f: Figures): string[] {
  return [
    '# Capacity',
    '',
    'What a large Sluice installation needs, what breaks first, and how to raise that limit. Nothing was run at that size: the figures are extrapolated from',
    'measurements on one two-processor machine ([comparison with tusd](beside-tusd.md), [capacity-measured.json](capacity-measured.json) from `npm run bench -- capacity --measure`, on',
    `${f.measured.day} at commit ${f.measured.commit}, and [capacity-simulated.json](capacity-simulated.json) from \`npm run bench -- capacity --simulate\`).`,
    "`npm run bench -- capacity` computes this page from these files, and a test fails if it is out of date. “Processor” means one of that machine's processors: measure one of yours, and scale the figures.",
    '',
    `Assumptions: processors run at ${percent(ASSUMED.load)}; the busiest second has ${ASSUMED.peak} times the day's average load; an upload node is \`PROCESSES=${ASSUMED.processesOfANode}\` with`,
    `\`ROLES=upload\`; PostgreSQL has ${ASSUMED.databaseProcessors} processors and \`max_connections = ${ASSUMED.maxConnections}\`; one upload in ${round(1 / ASSUMED.givenUp)} is abandoned.`,
    '',
    ...table(
      ['Work', 'Cost', 'Source'],
      [
        [
          '1 GiB, TLS to the bucket',
          `${f.bytes.upload} s of an upload process, ${f.bytes.database} s of PostgreSQL`,
          '[`npm run bench -- tusd`](beside-tusd.md)',
        ],
        [
          'a small file in one POST',
          `${f.small.upload} ms of an upload process, ${f.small.database} ms of PostgreSQL`,
          '[`npm run bench -- tusd`](beside-tusd.md)',
        ],
        ['a token', `${fixed(f.measured.tokenMs, 2)} ms of a web process`, 'measured'],
        ['a webhook', `${fixed(f.measured.webhookMs, 2)} ms of a worker`, 'measured'],
        [
          'a file in the database, with everything that belongs to it',
          `${fixed(f.simulated.bytesOfAFile / 1e3, 1)} kB`,
          'simulated',
        ],
        [
          'renewing a lease, every 4 s while someone writes',
          `${fixed(largest(f).cpuSecondsPer1000Renewals, 3)} ms of PostgreSQL, ${round(largest(f).walBytesPerRenewal)} bytes of WAL`,
          'simulated',
        ],
        [
          'PostgreSQL connections of an upload node',
          String(connectionsOfANode(f)),
          '[operations](operations.md)',
        ],
      ],
    ),
  ]
}

function bandwidth(f: Figures): string[] {
  const ofOne = f.mibPerSecond / 1024
  const ofANode = (ASSUMED.processesOfANode * ASSUMED.load) / f.bytes.upload
  const column = (gbit: number) => {
    const gib = gbit / GBIT_PER_GIB
    const nodes = Math.ceil(gib / ofANode)
    return [
      `${fixed(gib, 2)} GiB/s, ${round((gib * DAY_S) / 1024)} TiB a day`,
      `${round((gib * f.bytes.upload) / ASSUMED.load)}, on ${nodes} ${nodes === 1 ? 'node' : 'nodes'}`,
      fixed((gib * f.bytes.database) / ASSUMED.load, 1),
      String(nodes * connectionsOfANode(f)),
      `${round(gib * 2 * f.requestsOfEight)} a second`,
    ]
  }
  const names = [
    'Bytes',
    'Upload node processors',
    'PostgreSQL processors',
    'PostgreSQL connections',
    'Bucket requests, 64 MiB files',
  ]
  const [ten, hundred] = [column(10), column(100)]
  return [
    '',
    '## 10 and 100 Gbit/s',
    '',
    ...table(
      ['', '10 Gbit/s', '100 Gbit/s'],
      names.map((name, at) => [name, ten[at]!, hundred[at]!]),
    ),
    '',
    'Each byte comes in and goes out, so a node needs the same bandwidth each way. Large files hardly touch the database: it runs out of',
    'connections long before it runs out of processors.',
    '',
    ...breaks('Gbit/s', [
      {
        at: ofOne * GBIT_PER_GIB,
        what: 'The processor of one upload process',
        moves: 'more processes (`PROCESSES`)',
      },
      {
        at: ofANode * GBIT_PER_GIB,
        what: `One node of ${ASSUMED.processesOfANode} processes`,
        moves: 'more nodes: they share nothing but the database',
      },
      {
        at: nodesWithin(f) * ofANode * GBIT_PER_GIB,
        what: `Connections: ${nodesWithin(f)} nodes use all ${ASSUMED.maxConnections}`,
        moves: 'a higher `max_connections`; then a second database',
      },
    ]),
  ]
}

function uploadsADay(f: Figures): string[] {
  const mean = 1e6 / DAY_S
  const gib = (mean * ASSUMED.fileMB * 1e6) / 1024 ** 3
  const processors = (ms: number, bytesS: number, times: number) =>
    fixed(((mean * times * ms) / 1000 + gib * times * bytesS) / ASSUMED.load, 1)
  const both = (ms: number, bytesS = 0) => [processors(ms, bytesS, 1), processors(ms, bytesS, ASSUMED.peak)]
  const aDay = (perSecond: number) => (perSecond * DAY_S) / ASSUMED.peak
  const endings = largest(f).endingsPerSecond
  return [
    '',
    '## A million uploads a day',
    '',
    `Each upload is ${ASSUMED.fileMB} MB, with one token and one webhook.`,
    '',
    ...table(
      ['', 'Average second', 'Busiest second'],
      [
        ['Uploads per second', fixed(mean, 1), fixed(mean * ASSUMED.peak, 0)],
        ['Gbit/s', fixed(gib * GBIT_PER_GIB, 1), fixed(gib * GBIT_PER_GIB * ASSUMED.peak, 1)],
        ['Upload node processors', ...both(f.small.upload, f.bytes.upload)],
        ['Web node processors', ...both(f.measured.tokenMs)],
        ['Worker processors', ...both(f.measured.webhookMs)],
        ['PostgreSQL processors', ...both(f.small.database, f.bytes.database)],
      ],
    ),
    '',
    `The database grows by ${fixed((f.simulated.bytesOfAFile * 1e6) / 1e9, 1)} GB a day, ${fixed((f.simulated.bytesOfAFile * 365e6) / 1e12, 1)} TB in a year if nothing is deleted. Events, deliveries and attempts are deleted after 30 days; files`,
    'stay until someone erases them. [No statement gets slower](growth.md), but backups and restores do.',
    '',
    ...breaks('uploads per day', [
      {
        at: aDay((ASSUMED.load * 1000) / f.measured.tokenMs),
        what: 'One web process, with one token per upload',
        moves: 'more web nodes, or one token for many files',
      },
      {
        at: aDay((ASSUMED.load * 1000) / f.measured.webhookMs),
        what: 'One worker, with receivers that respond immediately',
        moves: 'more workers',
      },
      {
        at: (endings * DAY_S) / ASSUMED.givenUp,
        what: `Ending abandoned uploads: a worker ends ${round(endings)} per second`,
        moves: 'a faster database; a second worker does not help, since it finds the same uploads',
      },
    ]),
  ]
}

function openAtOnce(f: Figures): string[] {
  const perSecond = 1000 / UPLOAD_TERMS.renewMs
  const most = largest(f)
  const ofAProcess = 1000
  const nodes = 1e6 / ofAProcess / ASSUMED.processesOfANode
  return [
    '',
    '## A million uploads open at once',
    '',
    'Idle uploads only take up rows. In a database with nothing else:',
    '',
    ...table(
      ['Open uploads', 'Database', 'Leases renewed per second', 'Uploads ended per second by a worker'],
      f.simulated.openUploads.map(({ open, bytesEach, renewalsPerSecond, endingsPerSecond }) => [
        count(open),
        `${fixed((bytesEach * open) / 1e9, 2)} GB`,
        count(round(renewalsPerSecond)),
        count(round(endingsPerSecond)),
      ]),
    ),
    '',
    `An idle upload may have a tail of up to 5 MiB in the database, so a million could have ${fixed((5 * 1e6) / 1024 ** 2, 1)} TiB of tails. Two limits prevent this: the workspace limit of`,
    `${round(UPLOAD_TERMS.workspaceTailBytes / 1024 ** 3)} GiB, beyond which the workspace's slow uploads wait, and the limit for all tails together, \`UPLOAD_TAIL_BYTES\`. Clients that send complete parts leave small tails.`,
    '',
    `Uploads that receive data need leases, memory and connections. A million at 10 kB/s add up to ${round((1e6 * 10e3 * 8) / 1e9)} Gbit/s; a process with ${count(ofAProcess)} such clients used ${f.crowdMiB} MiB,`,
    `so they need ${count(1e6 / ofAProcess)} processes, ${count(round((1e6 / ofAProcess) * (f.crowdMiB / 1024)))} GiB of memory, ${count(nodes * connectionsOfANode(f))} connections, and ${count(round(1e6 * perSecond))} renewals with ${round((1e6 * perSecond * most.walBytesPerRenewal) / 1e6)} MB of WAL per second: too much for one database.`,
    '',
    ...breaks('simultaneous senders', [
      {
        at: nodesWithin(f) * ASSUMED.processesOfANode * ofAProcess,
        what: `Connections, at ${count(ofAProcess)} clients per process`,
        moves: 'a higher `max_connections`; a pooler in transaction mode; a second database',
      },
      {
        at: most.renewalsPerSecond / perSecond,
        what: 'Lease renewals, as measured on two processors shared with the clients',
        moves: 'a larger database, up to the limit in the next line',
      },
      {
        at: (ASSUMED.databaseProcessors * ASSUMED.load * 1000) / most.cpuSecondsPer1000Renewals / perSecond,
        what: 'Lease renewals, limited by PostgreSQL processors',
        moves: 'longer leases, at the cost of longer waits after a crash; a second database',
      },
    ]),
  ]
}

const LIMITS = [
  '',
  '## How to raise the limits',
  '',
  '- **More connections** take memory, and lengthen the queue for the same processors. Raise `max_connections` before anything else.',
  '- **A pooler in transaction mode** lets processes share connections. Each process keeps at most four of its own for notifications and the queue',
  '  (`DATABASE_DIRECT_URL`).',
  '- **A second database** means a second Sluice installation, with its own address: workspaces share nothing, so each belongs to one of the two. Moving a workspace',
  '  from one to the other is not supported yet. Another region is also a second Sluice.',
]

const connectionsOfANode = ({ connections: { together, each, beside } }: Figures) =>
  Math.max(together, each * ASSUMED.processesOfANode) + beside * ASSUMED.processesOfANode
const nodesWithin = (f: Figures) => Math.floor(ASSUMED.maxConnections / connectionsOfANode(f))
const largest = (f: Figures) => f.simulated.openUploads.at(-1)!

/** A table of the limits, in the order in which they are reached. */
function breaks(unit: string, all: Break[]): string[] {
  const sorted = all.toSorted((one, other) => one.at - other.at)
  return table(
    [`Breaks at (${unit})`, 'What breaks', 'How to raise the limit'],
    sorted.map(({ at, what, moves }) => [
      count(at < 100 ? Number(fixed(at, 1)) : Number(at.toPrecision(2))),
      what,
      moves,
    ]),
  )
}

function table(names: string[], lines: string[][]): string[] {
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`
  return [line(names), line(names.map(() => '---')), ...lines.map(line)]
}

const round = (value: number) => Math.round(value)
const fixed = (value: number, digits: number) => value.toFixed(digits)
const percent = (share: number) => `${round(share * 100)}%`
const count = (value: number) => value.toLocaleString('en-US')
