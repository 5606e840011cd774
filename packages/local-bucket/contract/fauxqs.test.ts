import { startFauxqs } from 'fauxqs'
import { bucketContract } from '../../../e2e/bucket-contract/bucket-contract.ts'

const region = 'eu-central-1'
const keys = { accessKeyId: 'any', secretAccessKey: 'any' }

bucketContract(
  'fauxqs',
  async () => {
    const server = await startFauxqs({ port: 0, host: '127.0.0.1', logger: false, defaultRegion: region })
    server.createBucket('contract')
    return {
      endpoint: `http://127.0.0.1:${server.port}`,
      region,
      bucket: 'contract',
      keys,
      putOnlyKeys: keys,
      close: () => server.stop(),
    }
  },
  {
    cannot: [
      'never overwrites with If-None-Match: *',
      'lets only one of many writers succeed with If-None-Match: *',
      'refuses a key of more than 1024 bytes',
      'completes again, with the same ETag, for a client that lost the response',
      'never overwrites on completion with If-None-Match: *',
      'lists the parts, page by page',
      'lists the uploads in progress',
      'refuses to complete with no parts',
      'refuses part numbers outside 1 to 10000',
      'returns NoSuchUpload for an unknown upload',
      'returns NoSuchUpload for an upload under another key',
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
      'refuses an unknown key id',
      'refuses unsigned requests',
      'refuses a clock that is off by more than 15 minutes',
      'names its region if a request is signed for a different one',
      'lets a put-only key do nothing else',
      'lists keys in byte order, with size, time and ETag',
      'groups keys by a delimiter, page by page',
    ],
  },
)
