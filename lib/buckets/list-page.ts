import { badAnswer, tag } from './bucket-error.ts'
import type { CallBucket } from './call-bucket.ts'

export type ListedObject = { key: string; bytes: number; modifiedMs: number }
/** Some of the objects of a bucket, in the order of their keys, and where the next page begins. */
export type ListedPage = { objects: ListedObject[]; next: string | null }

/** A key of 1,024 bytes may take three times as many, since it is encoded. */
const KEYS = 500
const PAGE_BYTES = 2 * 1024 * 1024

/** Needs `s3:ListBucket`, which uploads do not. */
export async function listPage(
  call: CallBucket,
  { prefix, from, signal }: { prefix: string; from: string | null; signal?: AbortSignal | undefined },
): Promise<ListedPage> {
  const { body } = await call({
    operation: 'ListObjectsV2',
    method: 'GET',
    key: '',
    signal,
    wantedBytes: PAGE_BYTES,
    query: {
      'list-type': '2',
      'encoding-type': 'url',
      'max-keys': String(KEYS),
      prefix,
      ...(from !== null && { 'continuation-token': from }),
    },
    isAnswer: (text) => /<ListBucketResult[\s>]/.test(text),
  })
  const xml = body.toString('utf8')
  const objects = [...xml.matchAll(/<Contents>(.*?)<\/Contents>/gs)].map(([, entry]) => readEntry(entry!))
  const next = tag(xml, 'IsTruncated') === 'true' ? tag(xml, 'NextContinuationToken') : null
  if (next === undefined) throw badAnswer('ListObjectsV2')
  return { objects, next }
}

function readEntry(xml: string): ListedObject {
  const [key, bytes, modified] = [tag(xml, 'Key'), tag(xml, 'Size'), tag(xml, 'LastModified')]
  if (!key || !bytes || !modified) throw badAnswer('ListObjectsV2')
  return {
    key: decodeURIComponent(key.replaceAll('+', ' ')),
    bytes: Number(bytes),
    modifiedMs: Date.parse(modified),
  }
}
