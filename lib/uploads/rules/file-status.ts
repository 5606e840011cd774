/** Why a destination has no object: a code, and a description if the code is not enough. */
export type Failure = {
  reason: 'fell_behind' | 'rejected' | 'unavailable' | 'unknown'
  detail: string | null
}

export const FELL_BEHIND: Failure = { reason: 'fell_behind', detail: null }

export type DestinationState = {
  status: 'pending' | 'transferring' | 'transferred' | 'failed'
  required: boolean
}

type FileStatus = 'transferring' | 'transferred' | 'partially_transferred' | 'failed'

/**
 * The status of a file whose last byte has arrived, derived from its destinations' statuses. The required destinations
 * determine whether the file failed, and the best-effort ones whether it was only partially transferred. Until that is
 * known, the status is `transferring`.
 */
export function statusOf(destinations: readonly DestinationState[]): FileStatus {
  const required = destinations.filter((one) => one.required)
  if (required.some(({ status }) => status === 'failed')) return 'failed'
  if (destinations.some(({ status }) => status === 'pending' || status === 'transferring'))
    return 'transferring'
  return destinations.every(({ status }) => status === 'transferred')
    ? 'transferred'
    : 'partially_transferred'
}
