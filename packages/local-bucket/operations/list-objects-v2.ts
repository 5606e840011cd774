import { xmlAnswer } from '../answer.ts'
import type { Perform } from '../call.ts'
import { listingEncoder, readLimit } from '../listing.ts'
import type { ObjectMetadata } from '../object-metadata.ts'
import { S3Error } from '../s3-error.ts'
import type { BucketStorage } from '../storage.ts'
import type { XmlElement } from '../xml.ts'

interface Page {
  objects: ObjectMetadata[]
  commonPrefixes: string[]
  /** The last key or common prefix of the page, if more follow. */
  next: string | undefined
}

export const listObjectsV2: Perform = async ({ request, storage }) => {
  const { query, bucket } = request
  const [prefix, delimiter] = [query.get('prefix') ?? '', query.get('delimiter') ?? '']
  const token = query.get('continuation-token')
  const after = token === null ? (query.get('start-after') ?? '') : readToken(token)
  const limit = readLimit(query, 'max-keys')
  const page = await readPage(storage, { prefix, delimiter, after, limit })
  const encode = listingEncoder(query)
  const contents = page.objects.map((metadata): XmlElement => ['Contents', describe(metadata, encode)])
  const folders = page.commonPrefixes.map(
    (text): XmlElement => ['CommonPrefixes', [['Prefix', encode(text)]]],
  )
  return xmlAnswer([
    'ListBucketResult',
    [
      ['Name', bucket],
      ['Prefix', encode(prefix)],
      delimiter ? ['Delimiter', encode(delimiter)] : undefined,
      ['MaxKeys', limit],
      ['KeyCount', page.objects.length + page.commonPrefixes.length],
      ['IsTruncated', page.next !== undefined],
      token === null ? undefined : ['ContinuationToken', token],
      page.next === undefined
        ? undefined
        : ['NextContinuationToken', Buffer.from(page.next).toString('base64url')],
      query.has('start-after') ? ['StartAfter', encode(query.get('start-after')!)] : undefined,
      query.has('encoding-type') ? ['EncodingType', 'url'] : undefined,
      ...contents,
      ...folders,
    ],
  ])
}

async function readPage(
  { objects }: BucketStorage,
  options: { prefix: string; delimiter: string; after: string; limit: number },
): Promise<Page> {
  const { prefix, delimiter, after, limit } = options
  const page: Page = { objects: [], commonPrefixes: [], next: undefined }
  let last = after
  for await (const key of objects.keys({ prefix, after })) {
    const folder = commonPrefix(key, prefix, delimiter)
    if (folder !== undefined && (folder === page.commonPrefixes.at(-1) || folder === after)) continue
    const isFull = page.objects.length + page.commonPrefixes.length >= limit
    if (isFull) return { ...page, next: limit === 0 ? undefined : last }
    if (folder === undefined) {
      const metadata = await objects.find(key)
      if (metadata) page.objects.push(metadata)
    } else page.commonPrefixes.push(folder)
    last = folder ?? key
  }
  return page
}

function commonPrefix(key: string, prefix: string, delimiter: string): string | undefined {
  const end = delimiter === '' ? -1 : key.indexOf(delimiter, prefix.length)
  return end < 0 ? undefined : key.slice(0, end + delimiter.length)
}

function describe(metadata: ObjectMetadata, encode: (text: string) => string): XmlElement[] {
  return [
    ['Key', encode(metadata.key)],
    ['LastModified', new Date(metadata.lastModifiedMs).toISOString()],
    ['ETag', metadata.etag],
    ['ChecksumAlgorithm', 'CRC32'],
    ['ChecksumType', metadata.checksum.type],
    ['Size', metadata.size],
    ['StorageClass', metadata.headers['x-amz-storage-class'] ?? 'STANDARD'],
  ]
}

function readToken(token: string): string {
  const after = Buffer.from(token, 'base64url').toString('utf8')
  if (after === '' || Buffer.from(after).toString('base64url') !== token) {
    throw new S3Error('InvalidArgument', 'The continuation token provided is incorrect')
  }
  return after
}
