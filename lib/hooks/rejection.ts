import { SluiceError } from '../platform/kernel/errors.ts'

/** Sluice's own reasons, used if the customer's backend has given none. */
export const NO_ANSWER = 'no_answer'
export const UNDECIDED = 'undecided'

const WORDS: Record<string, string> = {
  [NO_ANSWER]: "The server that decides on this Pipe's files did not respond (no_answer).",
  [UNDECIDED]: 'The file was not decided on in time (undecided).',
}

/** A human-readable reason. */
export const explainRejection = (reason: string): string => WORDS[reason] ?? reason

/** The error's status keeps common clients from trying again. */
export function rejected(reason: string | null): SluiceError {
  return new SluiceError('upload_rejected', explainRejection(reason ?? ''))
}
