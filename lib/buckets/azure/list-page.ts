import { badResponse, tag } from '../bucket-error.ts'
import type { ListedObject, ListedPage } from '../bucket-place.ts'
import type { CallBucket } from '../call-bucket.ts'

/** The names and properties of 500 blobs fit into 4 MiB, even if each name is 1,024 encoded characters long. */
const BLOBS = 500
const PAGE_BYTES = 4 * 1024 * 1024

/** Requires the permission list, which uploads do not need. */
export async function listPage(
  call: CallBucket,
  { prefix, from, signal }: { prefix: string; from: string | null; signal?: AbortSignal | undefined },
): Promise<ListedPage> {
  const { body } = await call({
    operation: 'ListBlobs',
    method: 'GET',
    key: '',
    signal,
    wantedBytes: PAGE_BYTES,
    query: {
      restype: 'container',
      comp: 'list',
      maxresults: String(BLOBS),
      prefix,
      ...(from !== null && { marker: from }),
    },
    isValid: (text) => /<EnumerationResults[\s>]/.test(text),
  })
  const xml = body.toString('utf8')
  const objects = [...xml.matchAll(/<Blob>(.*?)<\/Blob>/gs)].map(([, entry]) => readEntry(entry!))
  return { objects, next: tag(xml, 'NextMarker') || null }
}

function readEntry(xml: string): ListedObject {
  const [name, bytes, modified] = [nameIn(xml), tag(xml, 'Content-Length'), tag(xml, 'Last-Modified')]
  if (!name || !bytes || !modified) throw badResponse('ListBlobs')
  return { key: name, bytes: Number(bytes), modifiedMs: Date.parse(modified) }
}

/** A name with characters that XML cannot contain is percent-encoded. */
function nameIn(xml: string): string | undefined {
  const encoded = xml.match(/<Name Encoded="true">([^<]*)<\/Name>/)?.[1]
  return encoded === undefined ? tag(xml, 'Name') : decodeURIComponent(encoded)
}
