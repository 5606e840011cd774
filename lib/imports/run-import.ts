import { workspaceSuspended } from '../identity/suspension.ts'
import { minutes, seconds } from '../platform/kernel/clock.ts'
import type { Logger } from '../platform/log/log.ts'
import type { GetLimits } from '../platform/net/get.ts'
import type { GuardedAgents } from '../platform/net/guarded-agents.ts'
import type { Vault } from '../platform/vault.ts'
import { appendBytes } from '../uploads/append.ts'
import { endUpload } from '../uploads/endings/end-upload.ts'
import { assertNotOff, assertTypeAllowed } from '../uploads/opening/may-create.ts'
import { openForBytes, releaseUpload } from '../uploads/opening/open-for-bytes.ts'
import type { Upload } from '../uploads/opening/upload.ts'
import { type ByteSource, NO_BYTES } from '../uploads/stream/pieces.ts'
import { RequestSource } from '../uploads/stream/request-source.ts'
import type { UploadContext, UploadRight } from '../uploads/upload-context.ts'
import { type Fetched, fetchSource } from './fetch-source.ts'
import { hashStatePlace, openSource } from './import.ts'
import {
  type Gained,
  interrupted,
  judgeFailure,
  pauseAfterProgress,
  scheduleRetry,
  sourceChanged,
} from './import-failure.ts'
import { type ClaimedImport, endImport, postponeImport, recordSource, recordType } from './import-rows.ts'
import { ImportSource } from './import-source.ts'
import type { Pace } from './pace.ts'
import { ResumableHash } from './resumable-hash.ts'

export type ImportTerms = {
  get: GetLimits
  slow: { bytes: number; perMs: number }
  /** How many imports a node fetches at the same time. */
  atOnce: number
  /** How many attempts of an owner may fetch nothing. While they exceed it, the owner's imports wait. */
  fruitlessPerSecond: number
  /** How often a worker checks for due imports. */
  lookMs: number
  /** How long a claim lasts without being renewed, and how often it is renewed. */
  claimMs: number
  renewMs: number
}

export const IMPORT_TERMS: ImportTerms = {
  get: { respondMs: seconds(30), headerBytes: 64 * 1024 },
  // A source may be slow, but not slower than this: otherwise, an import could occupy its slot for days.
  slow: { bytes: 64 * 1024, perMs: minutes(1) },
  atOnce: 64,
  fruitlessPerSecond: 8,
  lookMs: seconds(1),
  claimMs: seconds(15),
  renewMs: seconds(5),
}

export type ImportDeps = {
  context: UploadContext
  vault: Vault
  log: Logger
  agents: GuardedAgents
  terms: ImportTerms
}

/** One import that this worker is fetching. */
export type Running = {
  claimed: ClaimedImport
  pace: Pace
  /** Aborted when the claim is lost, its place goes to another workspace, or the node stops. */
  signal: AbortSignal
  /** Stores what another worker needs to continue. Set while bytes arrive. */
  save?: () => Promise<void>
}

/** How an attempt ended. `over`: the file needs or accepts no more bytes. */
type Attempted = { end: 'over' } | { end: 'stopped' } | { end: 'failed'; error: unknown }

/**
 * Makes one attempt to fetch a file's missing bytes, and records its outcome. Returns false if it failed without having
 * fetched any.
 */
export async function runImport(deps: ImportDeps, running: Running): Promise<boolean> {
  const gained: Gained = { bytes: 0, reread: 0 }
  const attempted = await attempt(deps, running, gained).catch(
    (error: unknown): Attempted => (running.signal.aborted ? { end: 'stopped' } : { end: 'failed', error }),
  )
  await record(deps, running, attempted, gained)
  return attempted.end !== 'failed' || gained.bytes > 0
}

async function record(
  deps: ImportDeps,
  { claimed }: Running,
  attempted: Attempted,
  gained: Gained,
): Promise<void> {
  const { context, log } = deps
  const { db, clock } = context
  const nowMs = clock.now()
  if (attempted.end === 'over') return endImport(db, claimed, null)
  const goesOn = { failures: 0, failingSinceMs: null, error: null, isNoted: false }
  if (attempted.end === 'stopped') return postponeImport(db, claimed, { ...goesOn, dueAtMs: nowMs }, nowMs)
  const judged = judgeFailure(attempted.error)
  if (judged.kind === 'retries')
    log[judged.isFault ? 'warn' : 'debug'](
      { err: attempted.error, fileId: claimed.fileId },
      'an import attempt failed',
    )
  if (judged.kind === 'fails') return fail(deps, claimed, judged.reason)
  const { failures, failingSinceMs } = claimed
  if (judged.kind === 'waits') {
    const same = { failures, failingSinceMs, error: null, isNoted: false }
    return postponeImport(db, claimed, { ...same, dueAtMs: nowMs + judged.ms }, nowMs)
  }
  const { error, afterMs } = judged
  const random = Math.random()
  if (gained.bytes > 0) {
    const dueAtMs = nowMs + pauseAfterProgress(gained, judged, random)
    return postponeImport(db, claimed, { ...goesOn, error, dueAtMs }, nowMs)
  }
  const retry = scheduleRetry(claimed, { afterMs, nowMs, random })
  if (!retry) return fail(deps, claimed, `The file could not be fetched within 24 hours. ${error}`)
  return postponeImport(db, claimed, { ...retry, error, isNoted: true }, nowMs)
}

async function fail({ context }: ImportDeps, claimed: ClaimedImport, reason: string): Promise<void> {
  await endUpload(context, claimed.fileId, { status: 'failed', reason, from: ['uploading'] })
  await endImport(context.db, claimed, reason)
}

async function attempt(deps: ImportDeps, running: Running, gained: Gained): Promise<Attempted> {
  const { context, vault, agents, terms } = deps
  const { claimed, signal } = running
  const { fileId, pipeId, validator } = claimed
  const { url, headers, token } = openSource(vault, fileId, claimed.sealed)
  const right = await context.rights.toContinue(token, { pipeId, fileId })
  if (right.upload.status !== 'uploading') return { end: 'over' }
  if (right.suspended) throw workspaceSuspended()
  assertNotOff(right.destinations)
  const { offsetBytes } = right.upload
  const kept = keptHash(vault, claimed)
  const fromBytes = claimed.sha256 === null ? offsetBytes : (kept?.bytes ?? 0)
  const wanted = { url, headers, fromBytes, validator, nowMs: context.clock.now() }
  const fetched = await fetchSource(agents, wanted, terms.get, signal)
  // This listens immediately, because a source may close the connection before anyone reads the body.
  const body = fetched.body ? new RequestSource(fetched.body) : NO_BYTES
  gained.reread = Math.max(0, offsetBytes - fetched.startBytes)
  try {
    if (offsetBytes === 0) await takeType(context, right, fetched)
    const hash =
      claimed.sha256 === null
        ? undefined
        : await ResumableHash.open(fetched.startBytes > 0 ? kept : undefined)
    return await append(deps, running, { right, fetched, body, hash, gained })
  } finally {
    fetched.body?.destroy()
  }
}

function keptHash(vault: Vault, { fileId, hashState, hashedBytes }: ClaimedImport) {
  if (hashState === null) return undefined
  const state = Buffer.from(vault.open(hashState, hashStatePlace(fileId)), 'base64')
  return { bytes: hashedBytes, state }
}

/** The source determines the type, so it cannot be checked earlier. */
async function takeType({ db }: UploadContext, right: UploadRight, { filetype }: Fetched): Promise<void> {
  assertTypeAllowed(right, filetype, 'url')
  await recordType(db, right.upload.id, filetype)
  right.upload.filetype = filetype
}

type Append = {
  right: UploadRight
  fetched: Fetched
  body: ByteSource
  hash: ResumableHash | undefined
  gained: Gained
}

async function append(deps: ImportDeps, running: Running, asked: Append): Promise<Attempted> {
  const { context } = deps
  const { right, fetched, body, hash, gained } = asked
  const { offsetBytes } = right.upload
  const { lengthBytes } = fetched
  const declared = right.upload.lengthBytes
  if (lengthBytes !== null && (lengthBytes < offsetBytes || lengthBytes !== (declared ?? lengthBytes)))
    throw sourceChanged()
  const incoming = {
    bytes: lengthBytes === null ? undefined : lengthBytes - offsetBytes,
    ...(lengthBytes !== null && declared === null && { lengthBytes }),
  }
  const opened = await openForBytes(context, right, { fromBytes: offsetBytes, ...incoming })
  if (opened.kind === 'ended') return { end: 'over' }
  // A worker that was presumed dead has written more bytes, so the response does not start at the current offset.
  if (opened.kind === 'moved') return { end: 'stopped' }
  const { upload, limitBytes } = opened
  const source = sourceOf(deps, running, { upload, fetched, body, hash })
  running.save = saving(deps, running, { upload, fetched, hash, source })
  await running.save().catch(async (error: unknown) => {
    await releaseUpload(upload)
    throw error
  })
  context.metrics.uploadsOpen.inc()
  try {
    // The bytes are only verified when the source ends, so the file must not be complete before that.
    const rules = { whenCut: 'keep', completedBy: 'body' } as const
    const { state, why } = await appendBytes(context, upload, source, { limitBytes, rules })
    if (state !== 'uploading') return { end: 'over' }
    if (why === 'draining' || why === 'preempted') return { end: 'stopped' }
    if (why === 'suspended') throw workspaceSuspended()
    throw source.fault ?? interrupted()
  } finally {
    context.metrics.uploadsOpen.dec()
    gained.bytes = upload.progress.offsetBytes - offsetBytes
    await running.save().catch(() => {})
    delete running.save
  }
}

type Opened = { upload: Upload; fetched: Fetched; hash: ResumableHash | undefined }

function sourceOf(
  { terms }: ImportDeps,
  { claimed: { sha256 }, pace }: Running,
  { upload, fetched: { startBytes }, body, hash }: Opened & { body: ByteSource },
): ImportSource {
  const { offsetBytes, crc32, lengthBytes } = upload.progress
  return new ImportSource(body, {
    startBytes,
    lengthBytes,
    confirmed: { offsetBytes, crc32 },
    digest: hash && sha256 !== null ? { hash, sha256 } : undefined,
    pace,
    slow: terms.slow,
  })
}

/**
 * Until the existing bytes have been compared, the previous version's validator stays stored: another worker must not
 * continue in the middle of a version that was never compared.
 */
function saving(
  { context, vault }: ImportDeps,
  { claimed }: Running,
  { upload, fetched: { validator }, hash, source }: Opened & { source: ImportSource },
): () => Promise<void> {
  let isSaved = false
  return async () => {
    if (!source.isCompared || (isSaved && !hash)) return
    isSaved = true
    const point = hash?.pointAt(upload.progress.offsetBytes)
    const kept = point && {
      bytes: point.bytes,
      sealed: vault.seal(Buffer.from(point.state).toString('base64'), hashStatePlace(claimed.fileId)),
    }
    await recordSource(context.db, claimed, { validator, hash: kept })
  }
}
