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

/** A local bucket that AWS host names resolve to. It only responds to requests for its own AWS hosts. */
let local: BucketInTest
afterEach(() => disposeLocalBucket(local))

const toLoopback: LookupFunction = (_host, _options, found) =>
  found(null, [{ address: '127.0.0.1', family: 4 }])

async function upload(region: string, endpoint: string | undefined): Promise<void> {
  local = await openLocalBucket({ region, buckets: ['media'], rules: ['hosts-of-aws'] })
  // Copied field by field, because the AWS SDK adds properties to this object in other tests.
  const { accessKeyId, secretAccessKey } = READER
  const keys = { accessKeyId, secretAccessKey }
  const fields = { name: 'Media', provider: 'aws', bucket: 'media', region, endpoint, ...keys }
  const place = resolvePlace(parseInput(dataStoreInput, fields), [])
  // The real host name over plain HTTP, since the local bucket has no certificate for it.
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
  "sends an upload to AWS in %s to that region's hosts",
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
])('stores an upload sent to %s', async (endpoint, region) => {
  await upload(region, endpoint)
  expect(local.traffic.seen({ operation: 'PutObject', status: 200 })).toHaveLength(1)
})
