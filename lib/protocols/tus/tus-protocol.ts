import { TUS_RESUMABLE } from '@tus/server'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { METHODS } from '../endpoint/cors.ts'
import { deleteUpload } from '../endpoint/delete-upload.ts'
import type { Protocol } from '../endpoint/protocol.ts'
import { headUpload } from './head-upload.ts'
import { patchUpload } from './patch-upload.ts'
import { postUpload } from './post-upload.ts'

/** TUS 1.0.0 (https://tus.io/protocols/resumable-upload). Each method has a file of its own. */
export const tusProtocol: Protocol = {
  headers: { 'Tus-Resumable': TUS_RESUMABLE },
  nameOf: () => `tus ${TUS_RESUMABLE}`,
  async handle(context, uploadUrl, request) {
    // "the Server MUST respond with the 412 Precondition Failed status and MUST include the Tus-Version header".
    if (request.method !== 'GET' && request.headers['tus-resumable'] !== TUS_RESUMABLE)
      throw new SluiceError('version_not_supported', `Send Tus-Resumable: ${TUS_RESUMABLE}.`, {
        headers: { 'Tus-Version': TUS_RESUMABLE },
      })
    switch (request.method) {
      case 'POST':
        return postUpload(context, uploadUrl, request)
      case 'HEAD':
        return headUpload(context, request)
      case 'PATCH':
        return patchUpload(context, request)
      case 'DELETE':
        return deleteUpload(context, request)
    }
    throw new SluiceError('method_not_allowed', `The methods allowed here are ${METHODS}.`, {
      headers: { Allow: METHODS },
    })
  },
}
