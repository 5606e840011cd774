import type { DestinationReason } from '#drizzle/schema/files.ts'
import type { File } from '#lib/dashboard/files/file.ts'

/** The display names of protocols. */
export const PROTOCOL_NAMES: Record<File['protocol'], string> = {
  tus: 'TUS',
  'resumable-http': 'Resumable HTTP',
  http: 'Plain HTTP',
  url: 'URL import',
  sftp: 'SFTP',
}

type Decision = NonNullable<File['decision']>

export const DECISION_STATES_IN_WORDS: Record<Decision['state'], string> = {
  due: 'Asked once every byte is here',
  asked: 'Waiting for the answer',
  deferred: 'Deferred, until somebody decides here or by the API',
  allowed: 'Allowed',
  rejected: 'Rejected',
}

export const DECIDED_BY_IN_WORDS: Record<NonNullable<Decision['decidedBy']>, string> = {
  receiver: 'by the receiver of the hook',
  api: 'by a call to the API',
  default: 'by the setting for a missing answer',
  time: 'because nobody decided in time',
}

/** Why a destination has no object, in words. */
export const REASONS_IN_WORDS: Record<DestinationReason, string> = {
  fell_behind: 'It was slower than the required destinations, and the upload did not wait for it.',
  rejected: 'The bucket rejected it.',
  unavailable: 'The bucket could not be reached, or did not answer in time.',
  unknown: 'The object may be there: the keys may not look, so nobody can tell.',
  file_ended: 'The file ended before it was here.',
}
