import { fork } from 'node:child_process'
import { once } from 'node:events'
import { bucketContract } from '../../../e2e/bucket-contract/bucket-contract.ts'

/** The only pair it knows. */
const keys = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' }
const PROCESS = new URL('../../../test/support/s3rver.ts', import.meta.url)

bucketContract(
  's3rver',
  async () => {
    const child = fork(PROCESS, ['contract'], { stdio: 'ignore' })
    const [port] = await once(child, 'message')
    return {
      endpoint: `http://127.0.0.1:${port}`,
      region: 'us-east-1',
      bucket: 'contract',
      keys,
      putOnlyKeys: keys,
      giveUpMs: 2000,
      close: async () => {
        child.disconnect()
        await once(child, 'exit')
      },
    }
  },
  {
    cannot: [
      'takes a stream of known length',
      'gives ranges',
      'never overwrites with If-None-Match: *',
      'lets one of many win with If-None-Match: *',
      'keeps keys with empty and dotted segments as they are',
      'takes a name of 255 bytes and a key of 1024',
      'refuses a key of more than 1024 bytes',
      'assembles parts by number, whatever the order they come in',
      'completes again, with the same ETag, for a client that lost the answer',
      'never overwrites on completion with If-None-Match: *',
      'forgets an upload that is aborted',
      'lists the parts, page by page',
      'lists the uploads that are in progress',
      'copies an object, or a range of one, into a part',
      'refuses a part under 5 MiB that is not the last',
      'refuses parts out of order',
      'refuses a part that was never sent',
      'refuses a part whose ETag is another',
      'refuses part numbers outside 1 to 10000',
      'says NoSuchUpload for an upload that it does not know',
      'says NoSuchUpload for an upload under another key',
      'takes no more parts once it is complete',
      'keeps the CRC32 of an object and shows it',
      'keeps nothing of an object whose CRC32 is another',
      'keeps nothing of an object whose Content-MD5 is another',
      'refuses a Content-MD5 that is none',
      'refuses a CRC32 that is none',
      'refuses a part whose CRC32 or Content-MD5 is another',
      'compares the CRC32 of each part on completion',
      'compares the CRC32 of the whole object on completion',
      'wants the CRC32 of each part that was promised',
      'compares the size of the whole object on completion',
      'refuses a false secret',
      'refuses who does not sign',
      'names the region where a request is signed for another',
      'lets a key that may only put do nothing else',
      'lists keys by their bytes, with size, time and ETag',
      'lists page by page, each key once',
      'gathers keys under a delimiter, page by page',
    ],
  },
)
