import type { BucketError } from '../bucket-error.ts'
import type { BucketPlace } from '../bucket-place.ts'

type Refusal = { final: boolean; message: string }

/** What a code means, in Azure's words, and what to change. No other operation can work either. */
const FINAL: Record<string, string> = {
  AuthenticationFailed:
    'Azure does not accept the signature: the SAS or key was entered incompletely, or the key was rotated. Enter it again.',
  AuthorizationFailure:
    "Azure does not let this server in. Check the account's networking rules, and the addresses that the SAS allows.",
  AuthorizationSourceIPMismatch: 'The SAS is for other addresses than that of this server (sip=).',
  AuthorizationProtocolMismatch: 'The SAS is for https only, but the endpoint is http.',
  AuthorizationServiceMismatch: 'The SAS is not for the Blob service (ss=b).',
  AuthorizationResourceTypeMismatch: 'The SAS is not for objects (srt=o).',
  KeyBasedAuthenticationNotPermitted:
    'The storage account does not accept its keys, nor a SAS that they signed. Use a user delegation SAS.',
  AccountIsDisabled: 'The storage account is disabled.',
  InvalidBlobType: 'There is a blob of another type under this name.',
}

export function explainAzureCode({ code, told }: BucketError, { bucket }: BucketPlace): Refusal | undefined {
  if (told?.details)
    return { final: true, message: 'The SAS has expired. Create another one, and enter it here.' }
  if (code === 'ContainerNotFound')
    return {
      final: true,
      message: `There is no container “${bucket}” in this storage account. Check its name and the endpoint.`,
    }
  if (code in FINAL) return { final: true, message: FINAL[code]! }
  if (told?.status !== 403) return undefined
  return { final: false, message: `Refused (${code}): the credentials do not have the permission for this.` }
}
