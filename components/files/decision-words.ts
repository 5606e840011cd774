import type { File } from '#lib/dashboard/files/file.ts'

type Decision = NonNullable<File['decision']>

export const DECISION_STATES_IN_WORDS: Record<Decision['state'], string> = {
  due: 'Asked once every byte is here',
  asked: 'Waiting for the answer',
  deferred: 'Deferred, until a call to the API decides',
  allowed: 'Allowed',
  rejected: 'Rejected',
}

export const DECIDED_BY_IN_WORDS: Record<NonNullable<Decision['decidedBy']>, string> = {
  receiver: 'by the receiver of the hook',
  api: 'by a call to the API',
  default: 'by the setting for a missing answer',
  time: 'because nobody decided in time',
}
