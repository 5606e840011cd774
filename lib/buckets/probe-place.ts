/** A bucket as its customer entered it, with the keys in the clear. */
export type ProbePlace = {
  endpoint: string
  region: string
  bucket: string
  prefix: string
  forcePathStyle: boolean
  accessKeyId: string
  secretAccessKey: string
  storageClass: string | null
  encryption: { type: 'SSE-S3' } | { type: 'SSE-KMS'; keyId: string } | null
}

/** Where requests go: the bucket's own host, unless it stands in the path. */
export function probeHost({ endpoint, bucket, forcePathStyle }: ProbePlace): string {
  const { hostname } = new URL(endpoint)
  return forcePathStyle ? hostname : `${bucket}.${hostname}`
}
