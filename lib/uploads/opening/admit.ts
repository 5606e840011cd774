import { uuidv7 } from '../../platform/kernel/ids.ts'
import type { CreationRight } from '../ledger/upload-rights.ts'
import type { UploadContext } from '../upload-context.ts'
import type { Declared } from './create-upload.ts'
import { assertMayCreate } from './may-create.ts'

/** The initial state of a new upload, once the Pipe, the token and the customer's backend have allowed it. */
export type Admitted<Of extends Declared> = {
  fileId: string
  right: CreationRight
  declared: Of
  /** The `before_create` hook has allowed it. */
  isAllowedByHook: boolean
}

/**
 * Throws unless the Pipe, the token and the customer's backend allow this upload. The backend may rename the upload.
 * Partial uploads have no name yet, so the backend is asked about the final upload instead.
 */
export async function admit<Of extends Declared>(
  context: UploadContext,
  right: CreationRight,
  declared: Of,
): Promise<Admitted<Of>> {
  assertMayCreate(context, right, declared)
  const fileId = uuidv7(context.clock.now())
  const { token, pipe } = right
  if (!pipe.hooks.includes('before_create') || declared.concat === 'partial')
    return { fileId, right, declared, isAllowedByHook: false }
  const named = await context.hooks.beforeCreate({ token, pipe, fileId, declared })
  const { keyPrefix = token.keyPrefix, filename = declared.filename } = named
  const metadata = { ...token.metadata, ...named.metadata }
  const object = named.object ? { ...token.object, ...named.object } : token.object
  return {
    fileId,
    right: { ...right, token: { ...token, keyPrefix, metadata, object } },
    declared: { ...declared, filename },
    isAllowedByHook: true,
  }
}
