import { isSluiceError } from '../platform/kernel/errors.ts'
import { explainAzureCode } from './azure/explain-azure.ts'
import { type BucketError, isBucketError } from './bucket-error.ts'
import { addressOf, type BucketPlace } from './bucket-place.ts'
import { NO_TOKEN } from './temporary/request-credentials.ts'

/** Explains a bucket's refusal and what to change. */
export type Refusal = {
  /** True if no other operation can work either, in which case the check stops. */
  final: boolean
  message: string
}

/** S3 tolerates a clock difference of 15 minutes, so a small difference is not the reason for a refusal. */
const TELLING_SKEW_MS = 10 * 60_000

const final = (message: string): Refusal => ({ final: true, message })

export function explainRefusal(thrown: unknown, place: BucketPlace, nowMs: number): Refusal {
  if (!isBucketError(thrown)) throw thrown
  if (isSluiceError(thrown.cause)) return final(thrown.message)
  return (
    explainConnection(thrown, place) ??
    (place.capabilities.protocol === 'azure' ? explainAzure : explainS3)(thrown, place, nowMs) ??
    explainOther(thrown)
  )
}

const explainS3 = (error: BucketError, place: BucketPlace, nowMs: number) =>
  explainClock(error, nowMs) ??
  explainKeys(error) ??
  explainPlace(error, place) ??
  explainDenied(error, place)

/** An expired SAS is refused with details; otherwise, signatures depend on the clock. */
const explainAzure = (error: BucketError, place: BucketPlace, nowMs: number) =>
  (error.code === 'AuthenticationFailed' && !error.told?.details ? explainClock(error, nowMs) : undefined) ??
  explainAzureCode(error, place)

export function unresolved(place: BucketPlace): Refusal {
  return final(
    `The name ${addressOf(place).base.hostname} does not resolve (DNS). Check the endpoint ${place.endpoint} for typos.`,
  )
}

function explainConnection({ code, told }: BucketError, place: BucketPlace): Refusal | undefined {
  if (told) return undefined
  const { host } = new URL(place.endpoint)
  const address = addressOf(place)
  if (code === 'too_long')
    return final("The endpoint's response is too long to be that of a storage service.")
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID' && !address.inPath) {
    return final(`The certificate of ${host} is not valid for ${address.host}. Switch on path style.`)
  }
  if (/CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO_VERIFY/.test(code)) {
    return final(`${host} has no trusted certificate (${code}).`)
  }
  if (code === 'EPROTO') return final(`${host} does not support https. Check the port of the endpoint.`)
  if (['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH'].includes(code)) {
    return final(`${host} refuses connections (${code}). Check the host and port of the endpoint.`)
  }
  if (['ECONNRESET', 'EPIPE'].includes(code) || code.startsWith('HPE_'))
    return final(
      `${host} closed the connection (${code}). Check that it is the endpoint of a storage service.`,
    )
  if (['ENOTFOUND', 'EAI_AGAIN', 'ENODATA'].includes(code)) return unresolved(place)
  return undefined
}

/**
 * S3 has its own error code for a wrong clock. Other providers only refuse the signature, but their Date header shows
 * the difference.
 */
function explainClock({ code, told }: BucketError, nowMs: number): Refusal | undefined {
  const skewMs = nowMs - Date.parse(told?.serverTime ?? '')
  const telling = Math.abs(skewMs) > TELLING_SKEW_MS
  if (code !== 'RequestTimeTooSkewed' && !(telling && told?.status === 403)) return undefined
  const minutes = Math.round(Math.abs(skewMs) / 60_000)
  const how = Number.isNaN(skewMs)
    ? 'wrong'
    : `${minutes} minutes ${skewMs > 0 ? 'ahead of' : 'behind'} the bucket's`
  return final(`This server's clock is ${how}, and signatures are valid for 15 minutes. Set the clock (NTP).`)
}

function explainKeys({ code, message }: BucketError): Refusal | undefined {
  if (code === NO_TOKEN) return final(message)
  if (code === 'SignatureDoesNotMatch') {
    return final(
      'The secret access key is wrong: the bucket recognizes the key id, but not this secret. Enter it again.',
    )
  }
  if (['InvalidAccessKeyId', 'InvalidAccessKey', 'UnauthorizedAccess', 'Unauthorized'].includes(code)) {
    return final(
      'The bucket does not recognize this access key id. Check it, and make sure the key was not deleted.',
    )
  }
  if (['ExpiredToken', 'InvalidToken'].includes(code)) {
    return final('These are temporary credentials. Use an access key that does not expire.')
  }
  return undefined
}

const ELSEWHERE = ['PermanentRedirect', 'AuthorizationHeaderMalformed', 'IllegalLocationConstraintException']

function explainPlace({ code, told }: BucketError, place: BucketPlace): Refusal | undefined {
  if (!told) return undefined
  const region = told.region ?? told.regionHeader ?? told.words.match(/expecting '([^']+)'/)?.[1]
  const isElsewhere = ELSEWHERE.includes(code)
  if (region && region !== place.region && (isElsewhere || told.regionHeader)) {
    return final(
      `The region is wrong: the bucket is in ${region}, not in ${place.region}. Change the region.`,
    )
  }
  if (isElsewhere) return final(`The region ${place.region} is wrong for this bucket.`)
  const asOther = code === 'InvalidBucketName' || (told.bucket !== undefined && told.bucket !== place.bucket)
  if (asOther || /virtual.?host|path.?style/i.test(told.words)) {
    const turn = place.forcePathStyle ? 'off' : 'on'
    return final(`The endpoint expects the bucket name elsewhere in the URL. Switch path style ${turn}.`)
  }
  if (code === 'NoSuchBucket') {
    return final(
      `There is no bucket “${place.bucket}” at ${place.endpoint}. Check its name, region and endpoint.`,
    )
  }
  return undefined
}

function explainDenied({ code, told }: BucketError, { encryption }: BucketPlace): Refusal | undefined {
  if (told?.status !== 403) return undefined
  const kms =
    encryption?.type === 'SSE-KMS'
      ? ' With SSE-KMS, they also need kms:GenerateDataKey and kms:Decrypt on the key.'
      : ''
  const unsigned =
    ' If they do have permission, check for a bucket policy with further requirements, such as signed payloads, which Sluice does not send.'
  return {
    final: false,
    message: `Refused (${code}): the credentials do not have permission for this.${kms}${unsigned}`,
  }
}

function explainOther(error: BucketError): Refusal {
  const { code, told, message } = error
  if (!told) return { final: code === 'BadAnswer', message }
  const final = told.status < 500 && told.status >= 300
  if (code.startsWith('HTTP '))
    return {
      final,
      message: `The endpoint responded with ${code}, without an error that says why. Check that it is the endpoint of a storage service.`,
    }
  return {
    final,
    message: `The bucket responded with ${told.status} ${code}${told.words ? `: ${told.words}` : '.'}`,
  }
}
