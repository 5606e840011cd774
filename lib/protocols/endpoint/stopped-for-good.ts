import { SluiceError } from '../../platform/kernel/errors.ts'

/** For an upload that cannot be resumed and was cut because its node is stopping. */
export function stoppedForGood(): SluiceError {
  return new SluiceError('unavailable', 'This node is stopping. Send the file again.', {
    headers: { 'Retry-After': '1' },
  })
}
