import { SluiceError } from '../../platform/kernel/errors.ts'

/** A node that is stopping has ended an upload that nobody can continue. */
export function stoppedForGood(): SluiceError {
  return new SluiceError('unavailable', 'This node is stopping. Send the file again.', {
    headers: { 'Retry-After': '1' },
  })
}
