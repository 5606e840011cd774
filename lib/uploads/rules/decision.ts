import { SluiceError } from '../../platform/kernel/errors.ts'

/** What the customer's backend has decided about a file whose bytes are all durable. */
export type Verdict = { by: 'receiver' | 'api' | 'default' | 'time' } & (
  | { state: 'allowed'; result: unknown }
  | { state: 'rejected'; reason: string }
  | { state: 'deferred' }
)

/** Where the decision about a file stands: see `DECISION_STATES`. */
export type FileDecision = {
  state: 'due' | 'asked' | Verdict['state']
  reason: string | null
  result: unknown
}

type Decided = {
  lengthBytes: number | null
  offsetBytes: number
  decision: Pick<FileDecision, 'state'> | null
}

/** Reasons of our own, where nobody has said one. */
export const NO_ANSWER = 'no_answer'
export const UNDECIDED = 'undecided'

const WORDS: Record<string, string> = {
  [NO_ANSWER]: "The server that decides on this Pipe's files did not respond (no_answer).",
  [UNDECIDED]: 'The file was not decided on in time (undecided).',
}

/** A reason in words for people. */
export const explainRejection = (reason: string): string => WORDS[reason] ?? reason

export function isRejected({ decision }: Pick<Decided, 'decision'>): boolean {
  return decision?.state === 'rejected'
}

/**
 * The offset that clients are told. Common clients take an upload whose offset is its length to be finished, and one whose
 * HEAD fails to be lost: so as long as the object is not allowed, the last byte seems to be missing. The
 * request that brings it again gets the decision.
 */
export function toldOffset(file: Decided): number {
  const { offsetBytes, lengthBytes, decision } = file
  if (lengthBytes === null || decision === null || decision.state === 'allowed') return offsetBytes
  return Math.min(offsetBytes, Math.max(lengthBytes - 1, 0))
}

/** The status keeps common clients from trying again. */
export function rejected(reason: string | null): SluiceError {
  return new SluiceError('upload_rejected', explainRejection(reason ?? ''))
}
