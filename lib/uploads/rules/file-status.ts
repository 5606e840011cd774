/** Why a destination has no object: a code, and words for people where the code does not say it all. */
export type Failure = {
  reason: 'fell_behind' | 'rejected' | 'unavailable' | 'unknown'
  detail: string | null
}

/** Why nothing can be copied to a destination: for people, on the file page and in `reasonDetail`. */
export const NO_SOURCE =
  'It cannot be repaired: no destination that has the object can be read. Grant s3:GetObject to the keys of one, then check its Data Store.'

export type DestinationState = {
  status: 'pending' | 'transferring' | 'transferred' | 'failed'
  required: boolean
}

type FileStatus = 'transferring' | 'transferred' | 'partially_transferred' | 'failed'

/**
 * The status of a file whose last byte has arrived, by those of its destinations. The required ones decide whether there is a
 * file; those of best effort, whether it is everywhere. `transferring` until that is known.
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
