import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { crc32 } from 'node:zlib'
import type { BucketReport } from './bucket.ts'
import { BUCKETS } from './customer.ts'
import type { Log } from './log.ts'
import type { Source } from './source.ts'
import type { FileRow } from './verify.ts'
import type { World } from './world.ts'

/**
 * Checks that each bucket contains the files transferred to it, equal to their sources, and nothing else. Leftovers
 * that a crash may leave with put-only keys are counted, and a failure at that moment must explain each of them.
 */
export async function verifyBucket(
  world: World,
  files: FileRow[],
  sources: Source[],
  log: Log,
): Promise<void> {
  const byName = new Map(sources.map((source) => [source.name, source]))
  const byPath = new Map(files.map((file) => [join(file.bucket, file.key), file]))
  const there = new Set(await listObjects(world.bucket.directory))
  const report = await world.bucket.report()
  for (const path of there) {
    const file = byPath.get(path)
    const bytes = await readObject(world, path)
    const equal = bytes.sha256 === byName.get(file?.filename ?? '')?.sha256
    if (file && isStored(file)) checkTransferred(file, bytes, equal, log)
    else if (file && equal && isGivenUp(file)) log.count('objects that arrived after they were abandoned')
    else if (file && equal && (report.unheard.includes(path) || wasStruck(bytes.writtenMs, log)))
      log.count(`objects of ${file.status} files whose node failed at that moment`)
    else log.violation(`${path} is left over in the bucket; its file is ${file?.status}`)
  }
  for (const [path, file] of byPath)
    if (isStored(file) && !there.has(path)) log.violation(`${path} is transferred, but not in the bucket`)
  await checkMultiparts(world, files, report, log)
}

const isStored = ({ status, destinationStatus }: FileRow) =>
  ['transferred', 'partially_transferred'].includes(status) && destinationStatus === 'transferred'

const isGivenUp = ({ status, isRequired, destinationStatus }: FileRow) =>
  status === 'partially_transferred' && !isRequired && destinationStatus === 'failed'

type Stored = { path: string; size: number; sha256: string; crc32: number; writtenMs: number }

function checkTransferred(file: FileRow, stored: Stored, equal: boolean, log: Log): void {
  const { path, size } = stored
  log.count('bytes in the bucket', size)
  if (!equal) log.violation(`${path} (${size} bytes) differs from its source`)
  if (file.offset !== size || file.length !== size)
    log.violation(`${path} has ${size} bytes; its file has the offset ${file.offset} of ${file.length}`)
  if (file.crc32 !== stored.crc32) log.violation(`${path} and its file have different CRC32 values`)
}

/** A bucket may delay its response for four seconds, and the node may fail during that time. */
const STRUCK_WITHIN_MS = 6_000

/**
 * The object of a single-part file may exist without a record: the response was lost, or the node or its database
 * failed before it was recorded. If the client never returns, or cancels the upload, the object remains.
 */
function wasStruck(atMs: number, { outages }: Log): boolean {
  return outages.some(
    ({ fromMs, toMs }) => atMs > fromMs - STRUCK_WITHIN_MS && atMs < toMs + STRUCK_WITHIN_MS,
  )
}

/**
 * Of a transferred file's multipart uploads, only an empty one whose id was lost may remain: the response was lost, or
 * the node or its database failed before the id was recorded. So may any that the bucket refused to abort, unless its
 * id is recorded and the keys can abort. If they cannot, the uploads that a node lost to another one may also remain,
 * as may those to an abandoned destination. If they can, no upload of a canceled file remains, unless the worker died
 * while aborting it.
 */
async function checkMultiparts(
  { bucket }: World,
  files: FileRow[],
  { unnamed, unaborted }: BucketReport,
  log: Log,
): Promise<void> {
  let uncleared = 0
  for (const name of BUCKETS) {
    for (const { id, key, parts, begunMs } of await openMultiparts(bucket.directory, name)) {
      const file = files.find((file) => file.bucket === name && file.key === key)
      const lost = bucket.putOnly || unnamed.includes(join(name, key)) || wasStruck(begunMs, log)
      if (parts === 0 && file?.multipartId !== id && lost)
        log.count(`empty multipart uploads of ${file?.status} files, with a lost id`)
      else if (unaborted.includes(join(name, key)) && (bucket.putOnly || file?.multipartId !== id))
        log.count('multipart uploads that could not be aborted')
      else if (file && bucket.putOnly && isGivenUp(file))
        log.count('multipart uploads to abandoned destinations, with keys that cannot abort')
      else if (file?.multipartId !== id || isStored(file))
        log.violation(
          `${name}/${key}: a multipart upload with ${parts} parts remains; its file is ${file?.status}, ${file?.destinationStatus} there, and ${file?.multipartId === id ? 'names it' : 'does not name it'}; it was ${file?.history.join(', ')}`,
        )
      else if ((file.status === 'canceled' || isGivenUp(file)) && !bucket.putOnly) uncleared += 1
      else log.count(`multipart uploads of ${file.status} files`)
    }
  }
  if (uncleared > (log.counts.kills ?? 0))
    log.violation(`${uncleared} abandoned multipart uploads were not aborted`)
}

async function openMultiparts(directory: string, bucket: string) {
  const folder = join(directory, '.sluice/uploads', bucket, 'open')
  return Promise.all(
    (await readdir(folder)).map(async (id) => {
      const described = join(folder, id, 'upload.json')
      const { key } = JSON.parse(await readFile(described, 'utf8')) as { key: string }
      const { mtimeMs: begunMs } = await stat(described)
      const parts = (await readdir(join(folder, id))).filter((name) => name.startsWith('part-'))
      return { id, key, parts: parts.length, begunMs }
    }),
  )
}

async function listObjects(directory: string): Promise<string[]> {
  const found: string[] = []
  for (const bucket of BUCKETS) {
    const entries = await readdir(join(directory, bucket), { recursive: true, withFileTypes: true })
    for (const entry of entries.filter((entry) => entry.isFile()))
      found.push(join(entry.parentPath, entry.name).slice(directory.length + 1))
  }
  return found
}

async function readObject({ bucket }: World, path: string): Promise<Stored> {
  const absolute = join(bucket.directory, path)
  const { size, mtimeMs } = await stat(absolute)
  const hash = createHash('sha256')
  let crc = 0
  await pipeline(createReadStream(absolute), async (chunks: AsyncIterable<Buffer>) => {
    for await (const chunk of chunks) {
      hash.update(chunk)
      crc = crc32(chunk, crc)
    }
  })
  return { path, size, sha256: hash.digest('hex'), crc32: crc, writtenMs: mtimeMs }
}
