import type { BucketDeps } from '../lib/buckets/call-bucket.ts'
import { openBucket } from '../lib/buckets/open-bucket.ts'
import { capabilitiesOf } from '../lib/buckets/providers.ts'
import { emitFileCreated, emitFileEvent, emitFileRepaired } from '../lib/events/emit-file-event.ts'
import { openHooks } from '../lib/hooks/open-hooks.ts'
import { atMost } from '../lib/platform/kernel/waits.ts'
import { createGuardedAgents } from '../lib/platform/net/guarded-agents.ts'
import type { Runtime } from '../lib/platform/runtime.ts'
import { span } from '../lib/platform/tracing/span.ts'
import { MemoryBudget } from '../lib/upload-memory/memory-budget.ts'
import { largestPartBytes } from '../lib/upload-memory/part-sizes.ts'
import type { Bucket } from '../lib/uploads/bucket-port.ts'
import { openLeases } from '../lib/uploads/lease/leases.ts'
import { insertsUploads } from '../lib/uploads/ledger/insert-upload.ts'
import { createTailCap } from '../lib/uploads/ledger/tail-cap.ts'
import { openUploadRights } from '../lib/uploads/ledger/upload-rights.ts'
import { createWholeRecorder } from '../lib/uploads/ledger/whole-files.ts'
import { openFileHashes } from '../lib/uploads/rules/file-hash.ts'
import { createTailCipher } from '../lib/uploads/rules/tail-cipher.ts'
import { UPLOAD_TERMS, type UploadTerms } from '../lib/uploads/rules/upload-terms.ts'
import type { UploadContext } from '../lib/uploads/upload-context.ts'
import { openCredentials } from '../lib/workspace/data-stores/credentials.ts'
import { identityOf } from '../lib/workspace/data-stores/federation.ts'
import type { SealedDataStore } from '../lib/workspace/data-stores/sealed-data-store.ts'

/** The retry schedule for a failing bucket; tests use a shorter one. */
type Patience = Pick<BucketDeps, 'silenceMs' | 'deadlineMs' | 'retryDelaysMs'>

/** Assembles everything that uploads need: real buckets, the vault, events and hooks. */
export async function openUploads(
  runtime: Runtime,
  options: {
    terms?: Partial<UploadTerms>
    checkpoint?: UploadContext['checkpoint']
    bucket?: Patience
    hookRetriesMs?: readonly number[]
  } = {},
): Promise<UploadContext> {
  const { config, database, db, clock, log, metrics, queue } = runtime
  const terms = { ...UPLOAD_TERMS, ...options.terms }
  if (config.roles.has('upload')) metrics.memoryLimit.set(config.uploadMemoryBytes)
  const emitEvents: UploadContext['emitEvents'] = (tx, ...fileIds) =>
    emitFileEvent(tx, { queue, clock }, ...fileIds)
  const emitCreated: UploadContext['emitCreated'] = (tx, ...fileIds) =>
    emitFileCreated(tx, { queue, clock }, ...fileIds)
  const insert = insertsUploads({ db, emitEvents, emitCreated })
  let peak = 0
  const { uploadMemoryBytes, uploadMemoryShares } = config
  const budget = new MemoryBudget(uploadMemoryBytes, {
    clock,
    maxPartBytes: largestPartBytes(uploadMemoryBytes * uploadMemoryShares, uploadMemoryBytes),
    onChange(used) {
      metrics.memoryUsed.set(used)
      peak = Math.max(peak, used)
      metrics.memoryPeak.set(peak)
    },
  })
  return {
    db,
    clock,
    log,
    metrics,
    terms,
    budget,
    quota: { limitBytes: config.freeTierBytes },
    leases: await openLeases({ database, clock, log, metrics, terms }),
    hooks: openHooks(runtime, options.hookRetriesMs && { retryDelaysMs: options.hookRetriesMs }),
    openBucket: bucketsOf(runtime, budget, options.bucket),
    rights: openUploadRights({ db, clock }),
    insertUpload: (insertion) => span('ledger create', () => insert(insertion)),
    tailCap: createTailCap(
      { db, clock, log },
      { workspaceBytes: terms.workspaceTailBytes, allBytes: config.uploadTailBytes },
    ),
    tailCipher: createTailCipher(runtime.vault),
    openHash: await openFileHashes(runtime.vault),
    limitTailWrites: atMost(Math.ceil(config.databaseConnections * TAIL_SHARE), TAIL_PATIENCE_MS),
    recordWhole: createWholeRecorder({ db, clock, emitEvents }),
    emitEvents,
    emitCreated,
    emitRepaired: (tx, fileId) => emitFileRepaired(tx, { queue, clock }, fileId),
    checkpoint: options.checkpoint ?? (() => {}),
    background: new Set(),
    stopping: new AbortController(),
  }
}

/** The share of the database connections that writes of tails may use. */
const TAIL_SHARE = 0.4
/** A statement that takes this long is considered hung, and no longer delays the others. */
const TAIL_PATIENCE_MS = 2000
const MAX_OPEN_BUCKETS = 1000
const SOCKETS_PER_HOST = 256

/**
 * Caches buckets by the version of their row, so that each bucket client keeps its signing key or token, and its secret
 * is only decrypted once.
 */
export function bucketsOf(
  runtime: Pick<Runtime, 'config' | 'db' | 'clock' | 'metrics' | 'vault'>,
  budget: MemoryBudget,
  patience?: Patience,
): (row: SealedDataStore) => Bucket {
  const { config, clock, metrics, vault } = runtime
  const agents = createGuardedAgents(config.allowedPrivateHosts, {
    agent: { maxSockets: SOCKETS_PER_HOST, maxFreeSockets: 64, scheduling: 'lifo' },
  })
  const opened = new Map<string, Bucket>()
  return (row) => {
    const name = `${row.id} ${row.version}`
    const known = opened.get(name)
    if (known) return known
    const place = { ...row, capabilities: capabilitiesOf(row.provider, row.found) }
    const { workspaceId } = row
    const memory = budget.responses(workspaceId)
    const calls = openBucket(place, openCredentials(vault, row), {
      clock,
      agents,
      identity: identityOf(runtime, row),
      metrics,
      memory,
      ...patience,
    })
    const bucket = Object.assign(calls, { workspaceId })
    if (opened.size >= MAX_OPEN_BUCKETS) opened.delete(opened.keys().next().value!)
    opened.set(name, bucket)
    return bucket
  }
}
