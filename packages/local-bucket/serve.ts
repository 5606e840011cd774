import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import type { Clock } from '../../lib/platform/kernel/clock.ts'
import { type Answer, type Refusal, refusalAnswer } from './answer.ts'
import { authenticate } from './authenticate.ts'
import { ConnectionCut, type Exchange } from './exchange.ts'
import { type Faults, InjectedRefusal, Strikes } from './faults.ts'
import { IncomingBody } from './incoming-body.ts'
import { type KeyRing, requiredAction, TAGGING } from './key-ring.ts'
import { OPERATIONS } from './operations.ts'
import { readRequest, type S3Request } from './request.ts'
import { type Rule, type RuleName, rulesOf } from './rules.ts'
import { S3Error } from './s3-error.ts'
import type { BucketStorage } from './storage.ts'
import type { SeenRequest, Traffic } from './traffic.ts'

export interface ServedBuckets {
  region: string
  ring: KeyRing
  buckets: ReadonlyMap<string, BucketStorage>
  keepBytes: boolean
  clock: Clock
  faults: Faults
  traffic: Traffic
  /** The enabled rules. */
  rules: ReadonlySet<RuleName>
}

/** Serves one request. Errors become responses or close the connection; nothing is thrown. */
export async function serve(served: ServedBuckets, exchange: Exchange): Promise<void> {
  const id = randomUUID()
  let seen: SeenRequest | undefined
  let trouble: unknown
  try {
    const answer = await answerTo(served, exchange, (request) => {
      seen = arrival(id, request)
      served.traffic.note(seen)
    }).catch((error) => {
      if (error instanceof ConnectionCut || exchange.isGone) throw new ConnectionCut()
      if (!isRefusal(error)) trouble = error
      return refusalAnswer(
        isRefusal(error) ? error : new S3Error('InternalError'),
        exchange.request.url ?? '',
      )
    })
    await exchange.answer({ ...answer, headers: { ...answer.headers, 'x-amz-request-id': id } })
    if (seen)
      served.traffic.note({ ...seen, state: 'answered', status: answer.status, code: answer.code, trouble })
  } catch (error) {
    exchange.cut()
    if (!(error instanceof ConnectionCut)) trouble = error
    if (seen) served.traffic.note({ ...seen, state: 'cut', trouble })
  }
}

async function answerTo(
  served: ServedBuckets,
  exchange: Exchange,
  arrived: (request: S3Request) => void,
): Promise<Answer> {
  const { method = '', url = '', headers } = exchange.request
  const request = readRequest(method, url, headers)
  arrived(request)
  const strikes = new Strikes(served.faults, exchange, request)
  await strikes.at('request')
  const rules = rulesOf(served.rules)
  const performed = await perform(served, request, rules, strikes.body()).catch((error) => {
    throw error instanceof S3Error ? rephrase(error, request, rules) : error
  })
  const answer = rules.reduce((told, rule) => rule.answer?.(told, request) ?? told, performed)
  try {
    await strikes.at('answer')
  } catch (error) {
    if (answer.body instanceof Readable) answer.body.destroy()
    throw error
  }
  return answer
}

async function perform(
  served: ServedBuckets,
  request: S3Request,
  rules: readonly Rule[],
  source: AsyncIterable<Buffer>,
): Promise<Answer> {
  const { region, ring, buckets, clock, keepBytes } = served
  const authentication = await authenticate(request, ring, region, clock.now())
  const storageOf = (bucket: string): BucketStorage => {
    const storage = buckets.get(bucket)
    if (!storage) throw new S3Error('NoSuchBucket', undefined, { BucketName: bucket })
    return storage
  }
  const storage = storageOf(request.bucket)
  const permits = (action: string) => authentication.key.actions.some((granted) => granted === action)
  if (!permits(requiredAction(request.operation))) throw new S3Error('AccessDenied')
  if (request.headers['x-amz-tagging'] && !permits(TAGGING)) throw new S3Error('AccessDenied')
  const headers = seenBy(rules, request.headers)
  const { operation } = request
  const checksummed = operation !== 'CompleteMultipartUpload'
  const body = new IncomingBody({ headers, authentication, source, checksummed, md5: keepBytes })
  const call = { request: { ...request, headers }, body, storage, storageOf, clock, permits, rules }
  for (const rule of rules) await rule.admit?.(call)
  const instead = rules.find((rule) => rule.instead)?.instead?.()
  if (instead) return instead
  return OPERATIONS[operation](call)
}

/** The headers, without those that the provider does not support. */
function seenBy(rules: readonly Rule[], headers: Record<string, string>): Record<string, string> {
  const ignored = new Set(rules.flatMap((rule) => rule.ignores ?? []))
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !ignored.has(name)))
}

function rephrase(error: S3Error, request: S3Request, rules: readonly Rule[]): S3Error {
  return rules.reduce((said, rule) => rule.rephrase?.(said, request) ?? said, error)
}

function arrival(id: string, { operation, bucket, key, query }: S3Request): SeenRequest {
  return {
    id,
    operation,
    bucket,
    key,
    partNumber: query.has('partNumber') ? Number(query.get('partNumber')) : undefined,
    uploadId: query.get('uploadId') ?? undefined,
    state: 'arrived',
    status: undefined,
    code: undefined,
    trouble: undefined,
  }
}

function isRefusal(error: unknown): error is Refusal & Error {
  return error instanceof S3Error || error instanceof InjectedRefusal
}
