import type { IncomingMessage } from 'node:http'
import 'file-type'
import type { DestinationStatus, FileStatus } from '#drizzle/schema/index.ts'
import { Directory } from '#lib/folders/directory.ts'
import type { OpenFile } from '#lib/folders/open-file.ts'
import { FOLDER_TERMS } from '#lib/folders/terms.ts'
import { decideByCall, decisionSweeps } from '#lib/hooks/decide-files.ts'
import { createImports } from '#lib/imports/create-imports.ts'
import { importsInput } from '#lib/imports/import.ts'
import { startImportWorker } from '#lib/imports/import-worker.ts'
import type { DatabaseHandle } from '#lib/platform/db/database.ts'
import { isSluiceError } from '#lib/platform/kernel/errors.ts'
import { parseInput } from '#lib/platform/kernel/parse-input.ts'
import { runRequest } from '#lib/platform/kernel/request-context.ts'
import type { Runtime } from '#lib/platform/runtime.ts'
import type { UploadRequest } from '#lib/protocols/endpoint/upload-request.ts'
import { plainProtocol } from '#lib/protocols/plain/plain-protocol.ts'
import { resumableProtocol } from '#lib/protocols/resumable/resumable-protocol.ts'
import { tusProtocol } from '#lib/protocols/tus/tus-protocol.ts'
import { uploadSweeps } from '#lib/recovery/upload-sweeps.ts'
import type { Verdict } from '#lib/uploads/rules/decision.ts'
import type { HttpProtocol } from '#lib/uploads/upload-context.ts'
import { drainUploads } from '#lib/uploads/upload-context.ts'
import { openUploads } from '#server/open-uploads.ts'
import { Failure } from './failure.ts'
import type { Host, Scheduler } from './scheduler.ts'
import type { Session } from './sessions.ts'
import type { Site } from './site.ts'

/** Everything that the simulation knows about the core is in this file. */

export type { Verdict }

export type CoreRequest = Pick<UploadRequest, 'method' | 'pipeId' | 'fileId' | 'headers'> & {
  protocol: HttpProtocol
  body: unknown
  sendInterim: UploadRequest['sendInterim']
}
/** `code` is an error's code. */
export type CoreReply = { status: number; headers: Record<string, string>; body?: string; code?: string }

/** A node from the simulation's point of view. */
export type CoreNode = {
  /** Its leases, each as `file:fence`. */
  held: ReadonlySet<string>
  usedBytes(): number
  limitBytes: number
  /** Resolves to undefined if there is no client left to respond to. */
  handle(request: CoreRequest): Promise<CoreReply | undefined>
  /** The directory of a new connection. */
  readonly folder: Folder
  /** Requests an import, as the customer's backend does. */
  importFile(filename: string): Promise<unknown>
  /** Decides about a file through the API. */
  decide(fileId: string, allow: boolean): Promise<unknown>
  sweeps: { name: string; run(): Promise<number> }[]
  drain(): Promise<void>
}

const PROTOCOLS = { tus: tusProtocol, 'resumable-http': resumableProtocol, http: plainProtocol }
/**
 * Timelines have monthly tables according to PostgreSQL's own clock. Repairs are covered by repair.db.test, and by
 * tests that kill processes.
 */
const NOT_SIMULATED = new Set(['monthly timelines', 'repair destinations'])

/** How a client opens its file: it continues one that is there. */
const OPENS = { creates: true, exclusive: false, truncates: false, appends: false }

/** A file that is open for writing. */
export type FolderFile = Pick<OpenFile, 'fileId' | 'endOffset' | 'write' | 'close' | 'cut'>
type Folder = {
  open(name: string): Promise<FolderFile>
  look(name: string): Promise<{ status: FileStatus }>
}

type Around = {
  host: Host
  scheduler: Scheduler
  /** 0 is unlimited. */
  quotaBytes: number
  memoryBytes: number
  site: Pick<Site, 'pipeId' | 'senderToken' | 'signedIn'>
  /** Whether files are imported in this run. */
  imports: boolean
  /** The host that has or had each lease. */
  adopted: Map<string, Host>
  /** The answer of the customer's backend. */
  ask(host: Host, fileId: string): Promise<Verdict>
  violated(failure: Failure): void
}

/** Opens a node of the real core. Call it on its host. */
export async function openNode(
  runtime: Runtime,
  database: DatabaseHandle,
  { host, scheduler, quotaBytes, memoryBytes, site, imports, adopted, ask, violated }: Around,
): Promise<CoreNode> {
  const clock = { now: () => scheduler.nowMs + host.skewMs }
  const config = { ...runtime.config, uploadMemoryBytes: memoryBytes, freeTierBytes: quotaBytes }
  const context = await openUploads({ ...runtime, config, clock, database, db: database.db })
  context.hooks = { ...context.hooks, beforeComplete: (fileId) => ask(host, fileId) }
  const inc = (bytes: number) =>
    violated(new Failure('a request returns its memory', `${host.name} forgot ${bytes} bytes`))
  context.metrics = { ...context.metrics, memoryLeaked: { inc } as typeof context.metrics.memoryLeaked }
  const held = new Set<string>()
  const adopt = context.leases.adopt.bind(context.leases)
  context.leases.adopt = (fenced) => {
    const name = leaseName(fenced.rowId, fenced.fence)
    if (adopted.has(name))
      violated(new Failure('one writer per fence', `${host.name} has a lease that was had before`))
    adopted.set(name, host)
    held.add(name)
    const lease = adopt(fenced)
    void ('ended' in lease && (lease.ended as Promise<void>).then(() => held.delete(name)))
    return lease
  }
  const here = { ...runtime, config, clock, database, db: database.db }
  const worker = imports ? startImportWorker(here, context, { lookMs: 5000 }) : undefined
  const allAhead = { bytes: 0, mostBytes: 8192 }
  const terms = { ...FOLDER_TERMS, aheadBytes: 4096 }
  let requests = 0
  return {
    held,
    usedBytes: () => context.budget.usedBytes,
    limitBytes: memoryBytes,
    async handle({ protocol, body, ...request }) {
      const head = { ...request, protocol, origin: null, name: undefined, ofResult: false }
      const whole = { ...head, body: body as IncomingMessage }
      const id = `${host.name}-${++requests}`
      try {
        return await runRequest({ id, traceparent: undefined, notes: {} }, () =>
          PROTOCOLS[protocol].handle(context, 'http://sluice', whole),
        )
      } catch (error) {
        if (isSluiceError(error)) return { status: error.status, headers: error.headers, code: error.code }
        return { status: 500, headers: {} }
      }
    },
    get folder(): Folder {
      const opening = { protocol: 'sftp', address: '127.0.0.1', fingerprint: null } as const
      const directory = new Directory({ context, terms, allAhead }, site.signedIn, opening)
      return {
        open: (name) => directory.open({ folder: '', name }, OPENS),
        look: (name) => directory.look({ folder: '', name }),
      }
    },
    importFile: (filename) =>
      createImports(
        here,
        site.senderToken,
        parseInput(importsInput, {
          pipeId: site.pipeId,
          files: [{ url: `https://source.example.com/${filename}`, filename }],
        }),
      ),
    decide: (fileId, allow) => decideByCall(context, fileId, { allow, by: 'api' }),
    sweeps: [...uploadSweeps(context), ...decisionSweeps(context)].filter(
      ({ name }) => !NOT_SIMULATED.has(name),
    ),
    drain: async () => {
      await worker?.stop()
      await drainUploads(context)
    },
  }
}

export const leaseName = (fileId: string, fence: number) => `${fileId}:${fence}`

export type LedgerDestination = {
  position: number
  required: boolean
  status: DestinationStatus
  bucket: string
  key: string
  multipartId: string | null
  /** Whether its multipart upload is to be aborted. */
  isLeft: boolean
}
/** `etags` has an entry for each destination. */
export type LedgerPart = { number: number; offsetBytes: number; sizeBytes: number; etags: (string | null)[] }

export type LedgerFile = {
  id: string
  /** The client's name for the file, which identifies its source. */
  filename: string
  status: FileStatus
  reason: string | null
  lengthBytes: number | null
  offsetBytes: number
  recordedParts: number
  /** For a lane: how many of its file's parts come before it. */
  partsBefore: number
  recordedBytes: number
  boundEnds: number[]
  fence: number
  holder: string | null
  leaseUntil: string | null
  /** The SHA-256 of its first bytes, and how many these are. */
  sha256: string | null
  sha256Bytes: number
  /** Whether its SHA-256 is computed. */
  isHashed: boolean
  countedBytes: number
  reservedBytes: number
  concat: 'partial' | 'final' | null
  /** How many lanes it has; 0 for a file with one writer. */
  lanes: number
  /** For a lane: its file, and the first of its bytes. */
  laneOf: string | null
  firstByte: number
  /** The creation was rejected and left no record. */
  erased: boolean
  /** After this, the address of an unfinished upload no longer works. */
  expiresMs: number
  /**
   * The address no longer works: the client has abandoned the upload, or it was a piece that was joined or has expired.
   */
  retired: boolean
  /** The state of its decision; null for a file without a hook. */
  decision: 'due' | 'asked' | Verdict['state'] | null
  decisions: { state: Verdict['state']; by: Verdict['by'] }[]
  /** The file that a piece has become part of. */
  joinedInto: string | null
  destinations: LedgerDestination[]
  parts: LedgerPart[]
  tails: { offsetBytes: number; bytes: number }[]
  events: number
}

export type Ledger = {
  files: LedgerFile[]
  usedBytes: number
  reservedBytes: number
  dayBytes: number
}

/** The entire committed state. */
export async function readLedger(session: Session): Promise<Ledger> {
  const [row] = await session.run({ text: LEDGER, prepare: true })
  const { ledger } = row as { ledger: string | Ledger }
  const read: Ledger = typeof ledger === 'string' ? JSON.parse(ledger) : ledger
  const whole = new Map(read.files.map((file) => [file.id, file]))
  return { ...read, files: read.files.map((file) => withParts(file, whole.get(file.laneOf ?? ''))) }
}

/** A lane's parts are recorded for its file. Here, an open lane has them too, with ranges and numbers of its own. */
function withParts(lane: LedgerFile, file: LedgerFile | undefined): LedgerFile {
  if (!file) return lane
  const filename = laneName(file.filename, lane.firstByte)
  const { partsBefore, recordedParts } = lane
  const counted = recordedParts - partsBefore
  if (lane.status !== 'uploading') return { ...lane, filename, recordedParts: counted }
  const parts = file.parts
    .filter(({ number }) => number > partsBefore && number <= recordedParts)
    .map((part) => ({
      ...part,
      number: part.number - partsBefore,
      offsetBytes: part.offsetBytes - lane.firstByte,
    }))
  return { ...lane, filename, parts, recordedParts: counted }
}

export const laneName = (filename: string, firstByte: number) => `${filename}-lane-at-${firstByte}`

/** Encryption adds 28 bytes to a tail. */
const LEDGER = `select json_build_object(
  'usedBytes', (select coalesce(sum(used_bytes), 0) from usage_months),
  'reservedBytes', (select coalesce(sum(reserved_bytes), 0) from usage_months),
  'dayBytes', (select coalesce(sum(bytes), 0) from usage_days),
  'files', coalesce((select json_agg(json_build_object('id', f.id, 'filename', f.filename, 'status', f.status,
    'reason', f.failure_reason, 'lengthBytes', f.length_bytes, 'offsetBytes', f.offset_bytes,
    'recordedParts', f.recorded_parts, 'recordedBytes', f.recorded_bytes, 'boundEnds', f.bound_ends,
    'fence', f.lease_fence, 'holder', f.lease_holder, 'leaseUntil', f.lease_until,
    'sha256', f.sha256, 'sha256Bytes', f.sha256_bytes, 'isHashed', f.sha256_state is not null, 'countedBytes', f.counted_bytes,
    'reservedBytes', f.reserved_bytes, 'concat', f.concat, 'lanes', coalesce(cardinality(f.lanes), 0), 'laneOf', f.lane_of,
    'firstByte', coalesce(f.first_byte, 0), 'partsBefore', coalesce(f.first_byte / f.part_bytes, 0), 'erased', f.erased_at is not null,
    'expiresMs', extract(epoch from f.expires_at) * 1000, 'retired', f.retired_at is not null, 'joinedInto', f.joined_into, 'decision', f.decision,
    'decisions', (select coalesce(json_agg(json_build_object('state', d.state, 'by', d.decided_by)), '[]')
      from file_decisions d where d.file_id = f.id),
    'destinations', (select coalesce(json_agg(json_build_object('position', d.position,
      'required', d.required, 'status', d.status, 'bucket', d.bucket, 'key', d.key,
      'multipartId', d.multipart_id, 'isLeft', d.abort_pending) order by d.position), '[]') from file_destinations d where d.file_id = f.id),
    'parts', (select coalesce(json_agg(json_build_object('number', p.number, 'offsetBytes', p.offset_bytes,
      'sizeBytes', p.size_bytes, 'etags', p.etags) order by p.number), '[]') from file_parts p where p.file_id = f.id),
    'tails', (select coalesce(json_agg(json_build_object('offsetBytes', t.offset_bytes,
      'bytes', octet_length(t.bytes) - 28) order by t.offset_bytes), '[]') from upload_tails t where t.file_id = f.id),
    'events', case when f.status like '%ing' then 0 else (select count(*) from events e where e.file_id = f.id) end) order by f.id)
  from files f), '[]')) as ledger`

/** Removes everything that an earlier run left. */
export async function emptyLedger(session: Session): Promise<void> {
  await session.run({ text: EMPTY })
}

const EMPTY = [
  'events',
  'deliveries',
  'tallies',
  'usage_months',
  'usage_days',
  'rate_limits',
  'file_decisions',
  'creation_keys',
  'files',
]
  .map((table) => `delete from ${table}`)
  .concat(`delete from tokens where expires_at <> 'infinity'`, 'update tokens set files_created = 0')
  .concat('update senders set rate_tokens = null, rate_updated_at = null')
  .join(';')
