import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { ALL_ACTIONS, type BucketKey, TAGGING } from '../../../packages/local-bucket/key-ring.ts'
import { type LocalBucket, startLocalBucket } from '../../../packages/local-bucket/start.ts'
import { lockFolder, makeDataDir } from '../../platform/data-dir.ts'
import { StartError } from '../../platform/kernel/errors.ts'
import type { Logger } from '../../platform/log/log.ts'
import type { Config } from '../../platform/settings/config.ts'
import type { DemoBucket } from './ensure-demo.ts'

const NAME = 'demo'
const REGION = 'us-east-1'
const TAKE_OVER_EVERY_MS = 1000
const START_TRIES = 50
const START_TRY_EVERY_MS = 100

type Kept = Pick<DemoBucket, 'accessKeyId' | 'secretAccessKey' | 'reader'> & { port: number }

/**
 * The demo workspace's bucket. One process at a time serves it. Other processes on the same DATA_DIR use it, and one of
 * them takes over when the serving process ends. Its keys and its port are stored in `DATA_DIR/bucket.json`.
 */
export async function openDemoBucket(
  { dataDir }: Config,
  log: Logger,
): Promise<{ bucket: DemoBucket; stop(): Promise<void> }> {
  makeDataDir(dataDir)
  let serving = await serveBucket(dataDir)
  const kept = serving ? readKept(dataDir)! : await keptByAnother(dataDir)
  const timer = setInterval(async () => {
    if (serving) return
    serving = await serveBucket(dataDir).catch((error: unknown) => {
      log.warn({ err: error }, 'cannot take over the demo bucket yet')
      return undefined
    })
  }, TAKE_OVER_EVERY_MS)
  timer.unref()
  return {
    bucket: describe(dataDir, kept),
    async stop() {
      clearInterval(timer)
      await serving?.stop()
    },
  }
}

type Serving = { stop(): Promise<void> }

/** Serves the bucket. Returns undefined while another process does. */
async function serveBucket(dataDir: string): Promise<Serving | undefined> {
  const directory = join(dataDir, 'bucket')
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const unlock = lockFolder(directory)
  if (!unlock) return undefined
  try {
    const kept = readKept(dataDir) ?? newKeys()
    const server = await startOnPort(directory, kept)
    keep(dataDir, { ...kept, port: server.port })
    const stop = async () => {
      await server.close()
      unlock()
    }
    return { stop }
  } catch (error) {
    unlock()
    throw error
  }
}

/** Reuses the previous port, so that the Data Store's endpoint stays the same, unless the port is in use. */
async function startOnPort(directory: string, kept: Kept): Promise<LocalBucket> {
  const keys: BucketKey[] = [
    { ...pair(kept), actions: ['s3:PutObject', TAGGING] },
    { ...pair(kept.reader), actions: ALL_ACTIONS },
  ]
  const options = { directory, region: REGION, buckets: [NAME], keys }
  try {
    return await startLocalBucket({ ...options, port: kept.port })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    return startLocalBucket(options)
  }
}

const pair = ({ accessKeyId, secretAccessKey }: DemoBucket['reader']) => ({ accessKeyId, secretAccessKey })

function newKeys(): Kept {
  const key = (name: string) => ({
    accessKeyId: `DEMO${name}${randomBytes(5).toString('hex').toUpperCase()}`,
    secretAccessKey: randomBytes(30).toString('base64url'),
  })
  return { port: 0, ...key('PUT'), reader: key('READ') }
}

/** Waits for the file, because the process that serves the bucket may still be starting. */
async function keptByAnother(dataDir: string): Promise<Kept> {
  for (let tries = 0; tries < START_TRIES; tries++) {
    const kept = readKept(dataDir)
    if (kept) return kept
    await pause(START_TRY_EVERY_MS)
  }
  throw new StartError(
    `Another process has locked the demo bucket in ${dataDir}, but has not written its port. Stop that process.`,
  )
}

const fileOf = (dataDir: string) => join(dataDir, 'bucket.json')

function readKept(dataDir: string): Kept | undefined {
  try {
    return JSON.parse(readFileSync(fileOf(dataDir), 'utf8')) as Kept
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

function keep(dataDir: string, kept: Kept): void {
  writeFileSync(`${fileOf(dataDir)}.new`, `${JSON.stringify(kept, null, 2)}\n`, { mode: 0o600 })
  renameSync(`${fileOf(dataDir)}.new`, fileOf(dataDir))
}

function describe(dataDir: string, { port, ...keys }: Kept): DemoBucket {
  return {
    endpoint: `http://127.0.0.1:${port}`,
    region: REGION,
    name: NAME,
    directory: join(dataDir, 'bucket', NAME),
    ...keys,
  }
}
