import { fork } from 'node:child_process'
import { once } from 'node:events'
import { bucketContract } from '../../../e2e/bucket-contract/bucket-contract.ts'

/** The only key pair that s3rver accepts. */
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
      'accepts a stream of known length',
      'returns ranges',
      'never overwrites with If-None-Match: *',
      'lets only one of many writers succeed with If-None-Match: *',
      'keeps keys with empty and dotted segments as they are',
      'accepts a name of 255 bytes and a key of 1024',
      'refuses a key of more than 1024 bytes',
      'assembles parts by number, whatever their order of arrival',
      'completes again, with the same ETag, for a client that lost the response',
      'never overwrites on completion with If-None-Match: *',
      'forgets an aborted upload',
      'lists the parts, page by page',
      'lists the uploads in progress',
      'copies an object, or a range of one, into a part',
      'refuses a part under 5 MiB that is not the last',
      'refuses parts out of order',
      'refuses a part that was never sent',
      'refuses a part with a different ETag',
      'refuses part numbers outside 1 to 10000',
      'returns NoSuchUpload for an unknown upload',
      'returns NoSuchUpload for an upload under another key',
      'accepts no more parts once it is complete',
      'stores the CRC32 of an object and returns it',
      'stores no object whose CRC32 is different',
      'stores no object whose Content-MD5 is different',
      'refuses an invalid Content-MD5',
      'refuses an invalid CRC32',
      'refuses a part with a different CRC32 or Content-MD5',
      'compares the CRC32 of each part on completion',
      'compares the CRC32 of the entire object on completion',
      'requires the CRC32 of each part if one was announced',
      'compares the size of the entire object on completion',
      'refuses a wrong secret',
      'refuses unsigned requests',
      'names its region if a request is signed for a different one',
      'lets a put-only key do nothing else',
      'lists keys in byte order, with size, time and ETag',
      'lists page by page, each key once',
      'groups keys by a delimiter, page by page',
    ],
  },
)
