import { fork } from 'node:child_process'
import { once } from 'node:events'
import { type BucketOptions, Traffic } from './bucket.ts'
import type { Faults } from './bucket-faults.ts'
import type { FromBucket, ToBucket } from './faulty-bucket-process.ts'

export interface FaultyBucket {
  endpoint: string
  port: number
  /** Mirrors the traffic that the bucket's process records. */
  traffic: Traffic
  /** Each call resolves once it has taken effect in the bucket's process. */
  faults: {
    add(...fault: Parameters<Faults['add']>): Promise<void>
    release(...gate: Parameters<Faults['release']>): Promise<void>
    clear(): Promise<void>
  }
  /** The bucket process's peak memory usage. */
  peakMemoryBytes(): Promise<number>
  close(): Promise<void>
  /** kill -9 */
  kill(): Promise<void>
}

const PROCESS = new URL('./faulty-bucket-process.ts', import.meta.url)

/** The local bucket in its own process, which fails on demand and can be killed. It exits with its parent. */
export async function startFaultyBucket(options: Omit<BucketOptions, 'clock'>): Promise<FaultyBucket> {
  const child = fork(PROCESS, [JSON.stringify(options)], { serialization: 'advanced' })
  const exited = once(child, 'exit')
  const traffic = new Traffic()
  const started = Promise.withResolvers<{ endpoint: string; port: number }>()
  const waiting: ((answer: Extract<FromBucket, { kind: 'done' }>) => void)[] = []
  child.on('message', (message: FromBucket) => {
    if (message.kind === 'started') started.resolve(message)
    else if (message.kind === 'seen') traffic.note(message.request)
    else waiting.shift()?.(message)
  })
  exited.then(() => started.reject(new Error('the bucket did not start')))
  const tell = (message: ToBucket) => {
    const { promise, resolve } = Promise.withResolvers<Extract<FromBucket, { kind: 'done' }>>()
    waiting.push(resolve)
    child.send(message)
    return promise
  }
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal)
    await exited
  }
  const { endpoint, port } = await started.promise
  return {
    endpoint,
    port,
    traffic,
    faults: {
      add: async (fault) => void (await tell({ kind: 'add', fault })),
      release: async (gate) => void (await tell({ kind: 'release', gate })),
      clear: async () => void (await tell({ kind: 'clear' })),
    },
    peakMemoryBytes: async () => (await tell({ kind: 'ask' })).peakMemoryBytes,
    close: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
  }
}
