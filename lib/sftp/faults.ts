import ssh2 from 'ssh2'
import { notNow, SluiceError } from '../platform/kernel/errors.ts'

const { STATUS_CODE } = ssh2.utils.sftp

/** The status of SFTP version 3 for an error. */
export function statusOf({ code, status }: SluiceError): number {
  if (code === 'not_found' || code === 'upload_not_found') return STATUS_CODE.NO_SUCH_FILE
  return status === 401 || status === 403 ? STATUS_CODE.PERMISSION_DENIED : STATUS_CODE.FAILURE
}

export const noSuchHandle = () => new SluiceError('conflict', 'This file is not open.')
export const closing = () => notNow('The connection is being closed.')
export const tooManyHandles = () =>
  new SluiceError('rate_limited', 'This connection has too many files open. Close some of them.')
