import { type AzureCredentials, authorizeAzure } from './azure/authorize-azure.ts'
import { AzureBucket } from './azure/azure-bucket.ts'
import type { BucketPlace } from './bucket-place.ts'
import { type BucketDeps, createCaller } from './call-bucket.ts'
import { authorizeS3, type S3Credentials } from './s3/authorize-s3.ts'
import { S3Bucket } from './s3/s3-bucket.ts'

export type Credentials = S3Credentials | AzureCredentials

export type BucketClient = S3Bucket | AzureBucket

/** The client for the protocol of the bucket's provider. */
export function openBucket(place: BucketPlace, credentials: Credentials, deps: BucketDeps): BucketClient {
  const { capabilities } = place
  if (capabilities.protocol === 'azure') {
    const authorizer = authorizeAzure(place, credentials as AzureCredentials, deps)
    return new AzureBucket(place, capabilities, createCaller(place, authorizer, deps))
  }
  const authorizer = authorizeS3(place, credentials as S3Credentials, deps)
  return new S3Bucket(place, capabilities, createCaller(place, authorizer, deps))
}
