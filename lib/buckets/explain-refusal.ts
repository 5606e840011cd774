import { isSluiceError } from '../kernel/errors.ts'
import { type ProbePlace, probeHost } from './probe-place.ts'

/** Why a bucket did not do what it was asked, in words that say what to change. */
export type Refusal = {
  /** Nothing else will work either, so there is no use in trying. */
  final: boolean
  message: string
}

/** What the AWS SDK throws, as far as it helps. */
type S3Failure = Error & {
  code?: string
  Code?: string
  Region?: string
  BucketName?: string
  ServerTime?: string
  $metadata?: { httpStatusCode?: number }
  $response?: { headers?: Record<string, string> }
}

/** S3 allows 15 minutes; a smaller difference is not the reason. */
const TELLING_SKEW_MS = 10 * 60_000

const final = (message: string): Refusal => ({ final: true, message })

export function explainRefusal(thrown: unknown, place: ProbePlace, nowMs: number): Refusal {
  if (isSluiceError(thrown)) return final(thrown.message)
  const error = thrown as S3Failure
  return (
    explainConnection(error, place) ??
    explainClock(error, nowMs) ??
    explainKeys(error) ??
    explainPlace(error, place) ??
    explainDenied(error, place) ?? {
      final: (error.$metadata?.httpStatusCode ?? 0) < 500,
      message: `The bucket answered ${error.$metadata?.httpStatusCode ?? ''} ${error.name}: ${error.message}`,
    }
  )
}

export function unresolved(place: ProbePlace): Refusal {
  const host = probeHost(place)
  return final(
    `The name ${host} does not resolve (DNS). Check the endpoint ${place.endpoint} for a typing error.`,
  )
}

function explainConnection(error: S3Failure, place: ProbePlace): Refusal | undefined {
  const host = new URL(place.endpoint).host
  const code = error.code ?? ''
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID' && !place.forcePathStyle) {
    return final(`The certificate of ${host} is not for ${probeHost(place)}. Switch on path style.`)
  }
  if (/CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO_VERIFY/.test(code)) {
    return final(`${host} has no certificate that can be trusted (${code}).`)
  }
  if (code === 'EPROTO') return final(`${host} does not speak https. Check the port of the endpoint.`)
  if (['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH'].includes(code)) {
    return final(`${host} refuses connections (${code}). Check the host and port of the endpoint.`)
  }
  if (['ECONNRESET', 'EPIPE'].includes(code))
    return final(`${host} ended the connection (${code}). Check that it speaks S3.`)
  if (['ENOTFOUND', 'EAI_AGAIN', 'ENODATA'].includes(code)) return unresolved(place)
  return undefined
}

/** S3 says so itself; others only refuse the signature, and their Date header tells. */
function explainClock(error: S3Failure, nowMs: number): Refusal | undefined {
  const theirs = Date.parse(error.ServerTime ?? error.$response?.headers?.date ?? '')
  const skewMs = nowMs - theirs
  const telling = Math.abs(skewMs) > TELLING_SKEW_MS
  if (error.name !== 'RequestTimeTooSkewed' && !(telling && error.$metadata?.httpStatusCode === 403))
    return undefined
  const minutes = Math.round(Math.abs(skewMs) / 60_000)
  const how = Number.isNaN(skewMs)
    ? 'wrong'
    : `${minutes} minutes ${skewMs > 0 ? 'ahead of' : 'behind'} the bucket's`
  return final(
    `The clock of this server is ${how}, and signatures are good for 15 minutes. Set the clock (NTP).`,
  )
}

function explainKeys({ name }: S3Failure): Refusal | undefined {
  if (name === 'SignatureDoesNotMatch') {
    return final(
      'The secret access key is wrong: the bucket knows the key id, but not this secret. Enter it again.',
    )
  }
  if (['InvalidAccessKeyId', 'InvalidAccessKey', 'UnauthorizedAccess', 'Unauthorized'].includes(name)) {
    return final('The bucket does not know this access key id. Check it, and that the key was not deleted.')
  }
  if (['ExpiredToken', 'InvalidToken'].includes(name)) {
    return final('These are temporary credentials. Give an access key that does not expire.')
  }
  return undefined
}

function explainPlace(error: S3Failure, place: ProbePlace): Refusal | undefined {
  const { name, message, $response } = error
  const region =
    error.Region ?? $response?.headers?.['x-amz-bucket-region'] ?? message.match(/expecting '([^']+)'/)?.[1]
  const elsewhere = [
    'PermanentRedirect',
    'AuthorizationHeaderMalformed',
    'IllegalLocationConstraintException',
  ]
  if (
    region &&
    region !== place.region &&
    (elsewhere.includes(name) || $response?.headers?.['x-amz-bucket-region'])
  ) {
    return final(
      `The region is wrong: the bucket is in ${region}, not in ${place.region}. Change the region.`,
    )
  }
  if (elsewhere.includes(name)) return final(`The region ${place.region} is wrong for this bucket.`)
  const named = error.BucketName
  const asOther = name === 'InvalidBucketName' || (named !== undefined && named !== place.bucket)
  if (asOther || /virtual.?host|path.?style/i.test(message)) {
    const turn = place.forcePathStyle ? 'off' : 'on'
    return final(
      `The endpoint takes the bucket's name from another place of the address. Switch path style ${turn}.`,
    )
  }
  if (name === 'NoSuchBucket') {
    return final(
      `There is no bucket “${place.bucket}” at ${place.endpoint}. Check its name, region and endpoint.`,
    )
  }
  return undefined
}

function explainDenied(error: S3Failure, { encryption }: ProbePlace): Refusal | undefined {
  if (error.$metadata?.httpStatusCode !== 403) return undefined
  const kms =
    encryption?.type === 'SSE-KMS'
      ? ' With SSE-KMS they also need kms:GenerateDataKey and kms:Decrypt on the key.'
      : ''
  return { final: false, message: `Refused (${error.name}): the keys lack the permission.${kms}` }
}
