import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { SluiceError } from '../../platform/kernel/errors.ts'

/**
 * Runs scrypt in a few threads of its own. In libuv's thread pool, which files, DNS and zlib share, a rush of sign-ins
 * would block everything else. If the queue is full, users are told to try again.
 */
export type Stretch = { password: string; salt: Uint8Array; bytes: number; cost: object }
export type ScryptPool = { derive(work: Stretch): Promise<Buffer>; close(): Promise<void> }

type Job = { work: Stretch; resolve(hash: Buffer): void; reject(error: Error): void }

/** Inlined as text, since Next.js bundles this module and would not find a separate file. */
const WORKER = `
  const { parentPort } = require('node:worker_threads')
  const { scryptSync } = require('node:crypto')
  parentPort.on('message', ({ password, salt, bytes, cost }) => {
    parentPort.postMessage(scryptSync(password, salt, bytes, cost))
  })`

export function createScryptPool({ threads, queued }: { threads: number; queued: number }): ScryptPool {
  const waiting: Job[] = []
  const idle: Worker[] = []
  const all = new Set<Worker>()

  function give(worker: Worker, job: Job): void {
    const done = (hash: Uint8Array) => {
      worker.off('error', fail)
      job.resolve(Buffer.from(hash))
      const next = waiting.shift()
      if (next) return give(worker, next)
      worker.unref()
      idle.push(worker)
    }
    const fail = (error: unknown) => {
      all.delete(worker)
      job.reject(error as Error)
      const next = waiting.shift()
      if (next) give(start(), next)
    }
    worker.ref()
    worker.once('message', done).once('error', fail)
    worker.postMessage(job.work)
  }

  function start(): Worker {
    const worker = new Worker(WORKER, { eval: true })
    all.add(worker)
    return worker
  }

  return {
    derive: (work) =>
      new Promise((resolve, reject) => {
        const job = { work, resolve, reject }
        const worker = idle.pop() ?? (all.size < threads ? start() : undefined)
        if (worker) give(worker, job)
        else if (waiting.length < queued) waiting.push(job)
        else reject(tooMany())
      }),
    async close() {
      await Promise.all([...all].map((worker) => worker.terminate()))
    },
  }
}

function tooMany(): SluiceError {
  return new SluiceError('unavailable', 'Too many people are signing in right now. Try again in a moment.', {
    headers: { 'Retry-After': '2' },
  })
}

/**
 * Uses at most half of the cores, so that uploads still progress, and queues no more than can be processed in a few
 * seconds.
 */
const LIMITS = { threads: Math.max(1, Math.floor(availableParallelism() / 2)), queued: 20 }

const KEY = Symbol.for('sluice.scrypt-pool')
const global = globalThis as { [KEY]?: ScryptPool }

/** One pool per process, even though Next.js loads its own copy of every module. */
export function deriveKey(work: Stretch): Promise<Buffer> {
  global[KEY] ??= createScryptPool(LIMITS)
  return global[KEY].derive(work)
}
