/** The customer backend's decision on a file whose bytes are all durable. */
export type Verdict = { by: 'receiver' | 'api' | 'dashboard' | 'default' | 'time' } & (
  | { state: 'allowed'; result: unknown }
  | { state: 'rejected'; reason: string }
  | { state: 'deferred' }
)

/** The state of a file's decision: see `DECISION_STATES`. */
export type FileDecision = {
  state: 'due' | 'asked' | Verdict['state']
  reason: string | null
  result: unknown
}

type Progress = { offsetBytes: number; lengthBytes: number | null }

type Decided = Progress & {
  /** The client declared the length after every byte had arrived. */
  lengthCameLast: boolean | null
  decision: Pick<FileDecision, 'state'> | null
}

/**
 * The progress reported to clients. Common clients treat an upload whose offset equals its length as finished, and
 * one whose HEAD fails as lost. So until the object is allowed, the last byte is reported as missing, and the request
 * that sends it again gets the decision. A client that received the final offset before it declared the length may no
 * longer have that byte, so the length is reported as missing instead.
 */
export function toldProgress(file: Decided): Progress {
  const { offsetBytes, lengthBytes, lengthCameLast, decision } = file
  if (lengthBytes === null || decision === null || decision.state === 'allowed')
    return { offsetBytes, lengthBytes }
  if (lengthCameLast) return { offsetBytes, lengthBytes: null }
  return { offsetBytes: Math.min(offsetBytes, Math.max(lengthBytes - 1, 0)), lengthBytes }
}

export const toldOffset = (file: Decided): number => toldProgress(file).offsetBytes
