import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { createTurns, currentOwner, inTurn } from '../../platform/turns.ts'

/**
 * Runs scrypt in a few threads of its own, in which workspaces and networks take turns. In libuv's thread pool, which
 * files, DNS and zlib share, a rush of sign-ins would block everything else.
 */
export type Stretch = { password: string; salt: Uint8Array; bytes: number; cost: object }
export type ScryptPool = { derive(work: Stretch): Promise<Buffer>; close(): Promise<void> }

/** Inlined as text, since Next.js bundles this module and would not find a separate file. */
const WORKER = `
  const { parentPort } = require('node:worker_threads')
  const { scryptSync } = require('node:crypto')
  parentPort.on('message', ({ password, salt, bytes, cost }) => {
    parentPort.postMessage(scryptSync(password, salt, bytes, cost))
  })`

type PoolLimits = { threads: number; waiting: number; waitingForEach: number }

export function createScryptPool({ threads, ...room }: PoolLimits): ScryptPool {
  const turns = createTurns({ most: threads, ...room })
  const idle: Worker[] = []
  const all = new Set<Worker>()

  function start(): Worker {
    const worker = new Worker(WORKER, { eval: true })
    all.add(worker)
    return worker
  }

  function run(worker: Worker, work: Stretch): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const done = (hash: Uint8Array) => {
        worker.off('error', fail)
        worker.unref()
        idle.push(worker)
        resolve(Buffer.from(hash))
      }
      const fail = (error: unknown) => {
        all.delete(worker)
        reject(error as Error)
      }
      worker.ref()
      worker.once('message', done).once('error', fail)
      worker.postMessage(work)
    })
  }

  return {
    derive: (work) => inTurn(turns, currentOwner() ?? '', () => run(idle.pop() ?? start(), work)),
    async close() {
      await Promise.all([...all].map((worker) => worker.terminate()))
    },
  }
}

/**
 * Uses at most half of the cores, so that uploads still progress, and queues no more than can be processed in a few
 * seconds.
 */
const LIMITS = {
  threads: Math.max(1, Math.floor(availableParallelism() / 2)),
  waiting: 20,
  waitingForEach: 8,
}

const KEY = Symbol.for('sluice.scrypt-pool')
const global = globalThis as { [KEY]?: ScryptPool }

/** One pool per process, even though Next.js loads its own copy of every module. */
export function deriveKey(work: Stretch): Promise<Buffer> {
  global[KEY] ??= createScryptPool(LIMITS)
  return global[KEY].derive(work)
}
