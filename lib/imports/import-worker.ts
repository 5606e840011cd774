import { createBell } from '../platform/kernel/waits.ts'
import { createGuardedAgents } from '../platform/net/guarded-agents.ts'
import type { Runtime } from '../platform/runtime.ts'
import type { UploadContext } from '../uploads/upload-context.ts'
import { placesToYield } from './fair-share.ts'
import { type ClaimedImport, claimImports, importShares, renewClaims } from './import-rows.ts'
import { Pace } from './pace.ts'
import { IMPORT_TERMS, type ImportDeps, type ImportTerms, type Running, runImport } from './run-import.ts'

type Run = Running & { stop: AbortController; done: Promise<void> }

/**
 * Fetches due imports, as many files at the same time as the limits allow. The worker has no state of its own: its work
 * is claimed in the database, and if it dies, another worker continues from the confirmed offset once the claim has
 * expired.
 */
export function startImportWorker(
  runtime: Pick<Runtime, 'config' | 'vault' | 'log'>,
  context: UploadContext,
  terms: Partial<ImportTerms> = {},
): { stop(): Promise<void> } {
  const { config, vault, log } = runtime
  const agents = createGuardedAgents(config.allowedPrivateHosts, { agent: { keepAlive: false } })
  const deps = { context, vault, log, agents, terms: { ...IMPORT_TERMS, ...terms } }
  const worker = new ImportWorker(deps, {
    perWorkspace: config.importsPerWorkspace,
    bytesPerSecond: config.importBytesPerSecond || Number.POSITIVE_INFINITY,
  })
  const stopping = new AbortController()
  const repeat = async (everyMs: number, bell: Bell, work: () => Promise<void>) => {
    while (!stopping.signal.aborted) {
      await work().catch((error: unknown) => log.error({ err: error }, 'imports: will retry'))
      await bell.wait(everyMs)
    }
  }
  const mayStart = createBell(stopping.signal)
  const loops = [
    repeat(deps.terms.lookMs, mayStart, () => worker.startDue(mayStart.ring)),
    repeat(deps.terms.renewMs, createBell(stopping.signal), () => worker.renew()),
  ]
  return {
    async stop() {
      stopping.abort()
      await Promise.all(loops)
      await worker.stop()
    },
  }
}

type Bell = ReturnType<typeof createBell>

class ImportWorker {
  readonly #deps: ImportDeps
  readonly #limits: { perWorkspace: number; bytesPerSecond: number }
  readonly #runs = new Map<string, Run>()
  /** Limits, for each owner, the attempts that fetch nothing, so that a thousand files of a dead source delay nobody. */
  readonly #fruitless = new Map<string, Pace>()

  constructor(deps: ImportDeps, limits: { perWorkspace: number; bytesPerSecond: number }) {
    this.#deps = deps
    this.#limits = limits
  }

  /** Starts due imports. `ended` is called whenever one of them ends and its slot becomes free. */
  async startDue(ended: () => void): Promise<void> {
    const { db, clock } = this.#deps.context
    const { atOnce, claimMs } = this.#deps.terms
    const limit = atOnce - this.#runs.size
    if (limit === 0) return
    // Places stay free for others, so that an owner's slow sources do not delay them.
    const perOwner = Math.max(1, Math.floor(limit / 2))
    const except = [...this.#pausedOwners(), ...this.#ownersWith(limit)]
    const limits = { limit, perOwner, perWorkspace: this.#limits.perWorkspace, except, claimMs }
    for (const claimed of await claimImports(db, { ...limits, nowMs: clock.now() }))
      this.#start(claimed, ended)
  }

  #pausedOwners(): string[] {
    for (const [owner, pace] of this.#fruitless) if (pace.spend(0) === 0) this.#fruitless.delete(owner)
    return [...this.#fruitless.keys()]
  }

  /** The owners who have at least this many places on this node. */
  #ownersWith(places: number): string[] {
    const taken = new Map<string, number>()
    for (const { claimed } of this.#runs.values())
      taken.set(claimed.owner, (taken.get(claimed.owner) ?? 0) + 1)
    return [...taken].filter(([, count]) => count >= places).map(([owner]) => owner)
  }

  #countFruitless(owner: string): void {
    const { clock } = this.#deps.context
    const pace = this.#fruitless.get(owner) ?? new Pace(clock, this.#deps.terms.fruitlessPerSecond)
    pace.spend(1)
    this.#fruitless.set(owner, pace)
  }

  #start(claimed: ClaimedImport, ended: () => void): void {
    const { context, log } = this.#deps
    const stop = new AbortController()
    const pace = new Pace(context.clock, this.#limits.bytesPerSecond / claimed.running)
    const running: Running = { claimed, pace, signal: stop.signal }
    const done = runImport(this.#deps, running)
      .then((isFruitful) => {
        if (!isFruitful) this.#countFruitless(claimed.owner)
      })
      // If the outcome was not recorded, a worker continues the import once its claim has expired.
      .catch((err: unknown) => log.warn({ err, fileId: claimed.fileId }, 'an import was interrupted'))
      .finally(() => {
        this.#runs.delete(claimed.claim)
        ended()
      })
    this.#runs.set(claimed.claim, Object.assign(running, { stop, done }))
  }

  async renew(): Promise<void> {
    if (this.#runs.size === 0) return
    const held = await renewClaims(
      this.#deps.context.db,
      [...this.#runs.values()].map(({ claimed: { fileId, claim } }) => ({ fileId, claim })),
      this.#deps.terms.claimMs,
    )
    for (const [claim, { stop, pace }] of this.#runs) {
      const running = held.get(claim)
      if (running === undefined) stop.abort(new Error("This import's claim has expired."))
      else pace.changeTo(this.#limits.bytesPerSecond / running)
    }
    if (this.#runs.size >= this.#deps.terms.atOnce) await this.#yield()
    await Promise.all([...this.#runs.values()].map(({ save }) => save?.()))
  }

  /**
   * Stops imports to make room for waiting owners, since an import may take days.
   */
  async #yield(): Promise<void> {
    const { db, clock } = this.#deps.context
    const { perWorkspace } = this.#limits
    // File ids are in the order in which the imports were requested.
    const runs = [...this.#runs.values()].sort((a, b) => (a.claimed.fileId < b.claimed.fileId ? -1 : 1))
    // Places that are being given up are still counted as taken.
    if (runs.some(({ stop }) => stop.signal.aborted)) return
    const held = runs.map(({ claimed }) => claimed)
    // Only owners without a place may take one that becomes free on a full node (see `startDue`).
    const except = [...this.#pausedOwners(), ...this.#ownersWith(1)]
    const shares = await importShares(db, { perWorkspace, except, nowMs: clock.now() })
    for (const claim of placesToYield(held, shares))
      this.#runs.get(claim)?.stop.abort(new Error("Someone else is waiting for this import's place."))
  }

  /** Stops the worker. The bytes received are kept, and other workers continue immediately. */
  async stop(): Promise<void> {
    const runs = [...this.#runs.values()]
    for (const { stop } of runs) stop.abort(new Error('This node is stopping.'))
    await Promise.all(runs.map(({ done }) => done))
  }
}
