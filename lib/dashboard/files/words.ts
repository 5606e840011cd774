import type { DestinationReason } from '#drizzle/schema/files.ts'
import type { File } from './file.ts'

/** The display names of protocols. */
export const PROTOCOL_NAMES: Record<File['protocol'], string> = {
  tus: 'TUS',
  'resumable-http': 'Resumable HTTP',
  http: 'Plain HTTP',
  url: 'URL import',
  sftp: 'SFTP',
  ftps: 'FTPS',
  ftp: 'FTP',
}

type Decision = NonNullable<File['decision']>

export const DECISION_STATES_IN_WORDS: Record<Decision['state'], string> = {
  due: 'Will be requested once every byte has arrived',
  asked: 'Waiting for the response',
  deferred: 'Deferred until it is decided here or through the API',
  allowed: 'Allowed',
  rejected: 'Rejected',
}

export const DECIDED_BY_IN_WORDS: Record<NonNullable<Decision['decidedBy']>, string> = {
  receiver: "by the hook's receiver",
  api: 'by an API call',
  dashboard: 'in the dashboard',
  default: 'by the setting for missing responses',
  time: 'by default, because nobody decided in time',
}

/** Why a destination has no object, in words. */
export const REASONS_IN_WORDS: Record<DestinationReason, string> = {
  fell_behind: 'It was slower than the required destinations, and the upload did not wait for it.',
  rejected: 'The bucket rejected it.',
  unavailable: 'The bucket could not be reached, or did not respond in time.',
  unknown: 'The object may exist, but the keys do not allow looking it up.',
  file_ended: 'The upload failed, expired or was canceled before this destination had the file.',
}
