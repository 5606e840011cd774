import { Agent } from 'node:http'
import type { LookupFunction } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import {
  type BucketInTest,
  disposeLocalBucket,
  openLocalBucket,
  READER,
} from '../../../test/support/local-bucket.ts'
import { openBucket } from '../../buckets/open-bucket.ts'
import { capabilitiesOf } from '../../buckets/providers.ts'
import { systemClock } from '../../platform/kernel/clock.ts'
import { parseInput } from '../../platform/kernel/parse-input.ts'
import { dataStoreInput } from './data-store.ts'
import { resolvePlace } from './resolve-place.ts'

/** AWS names, resolved to a bucket that only responds at its own hosts. */
let local: BucketInTest
afterEach(() => disposeLocalBucket(local))

const toLoopback: LookupFunction = (_host, _options, found) =>
  found(null, [{ address: '127.0.0.1', family: 4 }])

async function upload(region: string, endpoint: string | undefined): Promise<void> {
  local = await openLocalBucket({ region, buckets: ['media'], rules: ['hosts-of-aws'] })
  // One at a time: the AWS SDK in other tests adds its own properties to the keys it is given.
  const { accessKeyId, secretAccessKey } = READER
  const keys = { accessKeyId, secretAccessKey }
  const fields = { name: 'Media', provider: 'aws', bucket: 'media', region, endpoint, ...keys }
  const place = resolvePlace(parseInput(dataStoreInput, fields), [])
  // The live host, without its certificate.
  const url = Object.assign(new URL(place.endpoint), { protocol: 'http:', port: String(local.port) })
  const http = new Agent({ lookup: toLoopback })
  const bucket = openBucket(
    {
      ...place,
      endpoint: url.href,
      bucket: 'media',
      capabilities: capabilitiesOf('aws', null),
      storageClass: null,
      encryption: null,
    },
    keys,
    { clock: systemClock, agents: { http, https: http as never }, retryDelaysMs: [] },
  )
  await bucket.putObject({ key: 'a', contentType: 'text/plain' }, { chunks: [], bytes: 0, crc32: 0 })
  http.destroy()
}

it.each(['eu-central-1', 'cn-north-1', 'us-gov-west-1', 'eusc-de-east-1'])(
  'an upload to AWS in %s is sent to the hosts of that region',
  async (region) => {
    await upload(region, undefined)
    expect(local.traffic.seen({ operation: 'PutObject', status: 200 })).toHaveLength(1)
  },
)

it.each([
  ['https://s3.dualstack.eu-central-1.amazonaws.com', 'eu-central-1'],
  ['https://s3-fips.us-gov-west-1.amazonaws.com', 'us-gov-west-1'],
  ['https://s3-accelerate.amazonaws.com', 'eu-central-1'],
  ['https://s3.dualstack.cn-north-1.amazonaws.com.cn', 'cn-north-1'],
  ['https://s3.amazonaws.com', 'us-east-1'],
])('an upload to %s arrives', async (endpoint, region) => {
  await upload(region, endpoint)
  expect(local.traffic.seen({ operation: 'PutObject', status: 200 })).toHaveLength(1)
})
