const KEPT = new Set([
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-type',
  'expires',
  'x-amz-server-side-encryption',
  'x-amz-server-side-encryption-aws-kms-key-id',
  'x-amz-server-side-encryption-bucket-key-enabled',
  'x-amz-storage-class',
  'x-amz-website-redirect-location',
])

/** The headers that stay with an object. Encryption is only remembered, not done: the files are for people to open. */
export function headersToKeep(headers: Record<string, string>): Record<string, string> {
  const kept = Object.entries(headers).filter(([name]) => KEPT.has(name) || name.startsWith('x-amz-meta-'))
  const encoding = withoutTransfer(headers['content-encoding'])
  const { 'content-encoding': _, ...others } = Object.fromEntries(kept)
  return {
    'content-type': 'binary/octet-stream',
    ...others,
    ...(encoding ? { 'content-encoding': encoding } : {}),
  }
}

/** Of these, what the answers to a write repeat. */
export function encryptionHeaders(kept: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(kept).filter(([name]) => name.startsWith('x-amz-server-side-encryption')),
  )
}

/** `aws-chunked` is how the body travelled, not how the object is encoded. */
function withoutTransfer(encoding: string | undefined): string | undefined {
  const codings = encoding?.split(',').map((coding) => coding.trim())
  return codings?.filter((coding) => coding && coding !== 'aws-chunked').join(', ')
}
