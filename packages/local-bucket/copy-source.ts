import { S3Error } from './s3-error.ts'

/** `x-amz-copy-source`: the bucket and key of an object, encoded. */
export function readCopySource(header: string): { bucket: string; key: string } {
  const [path, version] = header.split('?')
  if (version !== undefined) throw new S3Error('NotImplemented', 'This bucket keeps no versions.')
  const [, bucket, key] = /^\/?([^/]+)\/(.+)$/s.exec(decode(path!)) ?? []
  if (!bucket || !key)
    throw new S3Error('InvalidArgument', 'Copy Source must mention the source bucket and key')
  return { bucket, key }
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    throw new S3Error('InvalidURI')
  }
}
