import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Clock, minutes, systemClock } from '../../lib/platform/kernel/clock.ts'
import type { Interceptor } from './call.ts'
import { Exchange } from './exchange.ts'
import { type BucketKey, keyRing } from './key-ring.ts'
import { serve } from './serve.ts'
import { openStorage } from './storage.ts'

/**
 * An S3-compatible server on loopback: the demo workspace's bucket, and the bucket of tests. It refuses what S3
 * refuses: wrong signatures, checksums that do not match, parts too small or out of order, and every action that a key
 * is not granted. An object is a plain file in `<directory>/<bucket>/`, which appears completely or not at all; other
 * S3 data is stored in a hidden folder next to the buckets. Only one process at a time may use a directory. The server
 * only listens on loopback addresses, and does not encrypt.
 */
export interface LocalBucketOptions {
  directory: string
  region: string
  buckets: readonly string[]
  keys: readonly BucketKey[]
  /** With 0, the default, the system chooses a port. */
  port?: number
  clock?: Clock
  /** If false, bytes are verified but not stored: objects have their size, and contain zeros. For benchmarks. */
  keepBytes?: boolean
  /** If false, writes do not wait for the disk, so a machine crash may lose acknowledged objects. For tests. */
  durable?: boolean
  interceptor?: Interceptor
}

export interface LocalBucket {
  /** `http://127.0.0.1:<port>`; buckets are addressed by path, or as `<bucket>.localhost`. */
  endpoint: string
  port: number
  /** Closes every connection, and returns once all writes have ended. */
  close(): Promise<void>
}

const LOOPBACK = '127.0.0.1'

export async function startLocalBucket(options: LocalBucketOptions): Promise<LocalBucket> {
  const { directory, region, keepBytes = true, durable = true, clock = systemClock } = options
  const buckets = await openStorage(directory, options.buckets, { keepBytes, durable, clock })
  const ring = keyRing(options.keys, region)
  const served = { region, ring, buckets, keepBytes, clock, interceptor: options.interceptor }
  const underWay = new Set<Promise<void>>()
  const accept = (awaitsContinue: boolean) => (request: IncomingMessage, response: ServerResponse) => {
    const serving = serve(served, new Exchange(request, response, awaitsContinue))
    underWay.add(serving)
    serving.finally(() => underWay.delete(serving))
  }
  // No time limit for requests, because a part may be as large as 5 GiB. Idle connections are kept for clients to
  // reuse.
  const server = createServer({ requestTimeout: 0, keepAliveTimeout: minutes(5) }, accept(false))
  server.on('checkContinue', accept(true))
  const port = await listen(server, options.port ?? 0)
  const close = async () => {
    server.close()
    server.closeAllConnections()
    await Promise.all(underWay)
  }
  return { endpoint: `http://${LOOPBACK}:${port}`, port, close }
}

async function listen(server: ReturnType<typeof createServer>, port: number): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen(port, LOOPBACK, resolve)
  await promise
  server.off('error', reject)
  return (server.address() as AddressInfo).port
}
