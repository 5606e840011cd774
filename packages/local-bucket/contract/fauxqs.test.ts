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
      'lets one of many win with If-None-Match: *',
      'refuses a key of more than 1024 bytes',
      'completes again, with the same ETag, for a client that lost the answer',
      'never overwrites on completion with If-None-Match: *',
      'lists the parts, page by page',
      'lists the uploads that are in progress',
      'refuses to complete with no parts',
      'refuses part numbers outside 1 to 10000',
      'says NoSuchUpload for an upload that it does not know',
      'says NoSuchUpload for an upload under another key',
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
      'refuses a key id that it does not know',
      'refuses who does not sign',
      'refuses a clock that is off by more than 15 minutes',
      'names the region where a request is signed for another',
      'lets a key that may only put do nothing else',
      'lists keys by their bytes, with size, time and ETag',
      'gathers keys under a delimiter, page by page',
    ],
  },
)
