import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../lib/platform/kernel/clock.ts'
import { ObjectFiles } from './object-files.ts'
import { MetadataFiles } from './object-metadata.ts'
import { Staging, type StagingOptions } from './staging.ts'
import { UploadFiles } from './upload-files.ts'

export interface BucketStorage {
  staging: Staging
  objects: ObjectFiles
  uploads: UploadFiles
}

/** A hidden folder next to the buckets, on the same file system; a bucket's folder contains only its objects. */
const HIDDEN = '.sluice'
const BUCKET_NAME = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/

export async function openStorage(
  directory: string,
  buckets: readonly string[],
  options: StagingOptions & { clock: Clock },
): Promise<Map<string, BucketStorage>> {
  const staging = await Staging.open(join(directory, HIDDEN, 'staging'), options)
  const opened = new Map<string, BucketStorage>()
  for (const bucket of buckets) {
    if (!BUCKET_NAME.test(bucket)) throw new Error(`'${bucket}' is not a name that S3 allows for a bucket`)
    const metadataFolder = join(directory, HIDDEN, 'metadata', bucket)
    await mkdir(join(directory, bucket), { recursive: true })
    await mkdir(metadataFolder, { recursive: true })
    const metadata = new MetadataFiles(metadataFolder, staging)
    const objects = new ObjectFiles(join(directory, bucket), staging, metadata, options.clock)
    const uploads = await UploadFiles.open(join(directory, HIDDEN, 'uploads', bucket), staging, options.clock)
    opened.set(bucket, { staging, objects, uploads })
  }
  return opened
}
