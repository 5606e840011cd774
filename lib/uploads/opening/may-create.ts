import { SluiceError } from '../../platform/kernel/errors.ts'
import type { SealedDataStore } from '../../workspace/data-stores/sealed-data-store.ts'
import type { Bucket } from '../bucket-port.ts'
import type { CreationRight, PipeDestination } from '../ledger/upload-rights.ts'
import { largestUpload, limitsOfSet, type PartLimits } from '../rules/part-plan.ts'
import type { Declared } from './create-upload.ts'
import { openBucketOf } from './open-bucket-of.ts'

/**
 * Throws unless the Pipe and the token allow this upload. A partial upload has no type to check; only the final upload
 * has one.
 */
export function assertMayCreate(
  context: Opening,
  { token, pipe, destinations }: CreationRight,
  {
    lengthBytes,
    filetype,
    concat,
    protocol,
  }: Pick<Declared, 'lengthBytes' | 'filetype' | 'concat' | 'protocol'>,
): void {
  assertSourceOn(pipe, protocol)
  if (token.linkId !== null) assertFitsLink({ lengthBytes, concat, protocol })
  assertNotOff(destinations)
  if (destinations.some(({ dataStore, required }) => required && dataStore.state === 'unchecked'))
    throw new SluiceError(
      'data_store_not_ready',
      "The Pipe's Data Store has not passed its check yet. The Pipe's owner can run the check in the dashboard.",
    )
  // The type of an import is reported later, by its source.
  if (concat !== 'partial' && protocol !== 'url') assertTypeAllowed({ token, pipe }, filetype, protocol)
  const limits = limitsOfDestinations(context, destinations)
  const maxBytes = maxUploadBytes(limits, right(token, pipe))
  if (lengthBytes !== null && lengthBytes > maxBytes) throw tooLarge(maxBytes)
}

/** The limits of an upload link apply to complete files of known length. */
function assertFitsLink({
  lengthBytes,
  concat,
  protocol,
}: Pick<Declared, 'lengthBytes' | 'concat' | 'protocol'>): void {
  if (isFolderProtocol(protocol))
    throw new SluiceError('forbidden', 'Upload link tokens only work over HTTP.')
  if (lengthBytes !== null && concat === null) return
  throw new SluiceError('forbidden', 'Uploads through a link must be complete files with a declared length.')
}

const HTTP = { column: 'sourceHttp', name: 'HTTP (TUS)' } as const
/** The source of a Pipe that accepts each protocol. */
const SOURCES = {
  tus: HTTP,
  'resumable-http': HTTP,
  http: HTTP,
  url: { column: 'sourceUrl', name: 'URL' },
  sftp: { column: 'sourceSftp', name: 'SFTP' },
  ftps: { column: 'sourceFtps', name: 'FTPS' },
  ftp: { column: 'sourceFtp', name: 'FTP' },
} as const

/** The protocols whose clients see a directory; they declare neither a length nor a type. */
const isFolderProtocol = (protocol: Declared['protocol']): boolean =>
  protocol === 'sftp' || protocol === 'ftps' || protocol === 'ftp'

export const isSourceOn = (pipe: CreationRight['pipe'], protocol: Declared['protocol']): boolean =>
  pipe[SOURCES[protocol].column]

function assertSourceOn(pipe: CreationRight['pipe'], protocol: Declared['protocol']): void {
  if (isSourceOn(pipe, protocol)) return
  throw new SluiceError(
    'pipe_source_off',
    `The Pipe's owner can switch the ${SOURCES[protocol].name} source on in the dashboard.`,
  )
}

export function assertTypeAllowed(
  { token, pipe }: Pick<CreationRight, 'token' | 'pipe'>,
  filetype: string | null,
  protocol: Declared['protocol'],
): void {
  for (const allowed of [pipe.allowedTypes, token.allowedTypes]) {
    if (allowed.length === 0 || allowed.some((range) => matchesType(range, filetype))) continue
    const why = filetype === null ? whyNoType(protocol) : `Files of type ${filetype} are not allowed.`
    throw new SluiceError('type_not_allowed', `${why} Allowed: ${allowed.join(', ')}.`)
  }
}

function whyNoType(protocol: Declared['protocol']): string {
  if (protocol === 'url') return "The source's response has no Content-Type header."
  if (isFolderProtocol(protocol))
    return "The file's type is unknown, because its name has no known extension."
  return 'The request named no type: send it in the Content-Type header, or as filetype in the TUS metadata.'
}

/** This is also checked before each request that continues an upload. */
export function assertNotOff(destinations: readonly PipeDestination[]): void {
  if (!destinations.some(({ dataStore, required }) => required && dataStore.state === 'off')) return
  throw new SluiceError(
    'data_store_not_ready',
    "The Pipe's Data Store was turned off when the account changed hands. The Pipe's owner can switch it on again in the dashboard.",
  )
}

const right = (token: { maxBytes: number | null }, pipe: { maxFileBytes: number | null }) => ({
  tokenBytes: token.maxBytes,
  pipeBytes: pipe.maxFileBytes,
})

/** The values that determine an upload's limits. */
export type Opening = {
  openBucket(dataStore: SealedDataStore): Pick<Bucket, 'capabilities'>
  budget: { maxPartBytes: number }
}

/** The part limits that satisfy all of an upload's destinations. */
export function limitsOfDestinations(
  context: Opening,
  destinations: readonly Pick<PipeDestination, 'dataStore' | 'required'>[],
): PartLimits {
  const providers = destinations.map((one) => openBucketOf(context, one).capabilities)
  return limitsOfSet(providers, context.budget.maxPartBytes)
}

/** The lowest of the provider's, the Pipe's and the token's limits. */
export function maxUploadBytes(
  limits: PartLimits,
  { tokenBytes, pipeBytes }: { tokenBytes: number | null; pipeBytes: number | null },
): number {
  return Math.min(largestUpload(limits), tokenBytes ?? Infinity, pipeBytes ?? Infinity)
}

export function tooLarge(maxBytes: number): SluiceError {
  return new SluiceError('file_too_large', `The file may have at most ${maxBytes} bytes.`, {
    headers: { 'Tus-Max-Size': String(maxBytes) },
  })
}

/** `image/*` allows every image; parameters of the declared type do not matter. */
function matchesType(range: string, filetype: string | null): boolean {
  const type = (filetype ?? '').split(';', 1)[0]!.trim().toLowerCase()
  return range.endsWith('/*') ? type.startsWith(range.slice(0, -1)) : type === range
}
