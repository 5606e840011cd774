import { type IncomingMessage, type ServerResponse, request as send } from 'node:http'
import { createSigner } from '#lib/buckets/s3/sign-request.ts'
import type { Clock } from '#lib/platform/kernel/clock.ts'

export type BucketBehind = {
  endpoint: string
  region: string
  key: { accessKeyId: string; secretAccessKey: string }
}

/** Passes requests on to a local bucket, signed with its access key in place of their own credentials. */
export function forwardsTo(bucket: BucketBehind, clock: Clock) {
  const sign = createSigner(bucket.region, bucket.key)
  return (request: IncomingMessage, response: ServerResponse) => {
    const to = new URL(request.url!, bucket.endpoint)
    const { connection: _, authorization: __, 'x-amz-security-token': ___, ...others } = request.headers
    const headers = Object.fromEntries(
      Object.entries(others as Record<string, string>).map(([name, value]) => [
        name.replace(/^x-goog-/, 'x-amz-'),
        value,
      ]),
    )
    const unsigned = {
      method: request.method!,
      path: to.pathname,
      query: Object.fromEntries(to.searchParams),
      headers: { ...headers, host: to.host },
      payloadHash: 'UNSIGNED-PAYLOAD',
    }
    passOn(request, response, { to, headers: sign(unsigned, clock.now()), clock })
  }
}

export function passOn(
  request: IncomingMessage,
  response: ServerResponse,
  { to, headers, clock }: { to: URL; headers: Record<string, string>; clock: Clock },
): void {
  const forwarded = send(to, { method: request.method!, headers }, (answer) => {
    const date = new Date(clock.now()).toUTCString()
    response.writeHead(answer.statusCode!, { ...answer.headers, date })
    answer.pipe(response)
    answer.on('error', () => response.destroy())
  })
  forwarded.on('error', () => response.destroy())
  request.once('close', () => request.complete || forwarded.destroy())
  request.pipe(forwarded)
}
