import type { BucketPlace } from './bucket-place.ts'
import { type BucketDeps, createCaller } from './call-bucket.ts'
import { createAuthorizer, type S3Credentials } from './s3/authorize-s3.ts'
import { S3Bucket } from './s3/s3-bucket.ts'

export type Credentials = S3Credentials

export type BucketClient = S3Bucket

export function openBucket(place: BucketPlace, credentials: Credentials, deps: BucketDeps): BucketClient {
  const authorizer = createAuthorizer(place.region, credentials, deps)
  return new S3Bucket(place, place.capabilities, createCaller(place, authorizer, deps))
}
