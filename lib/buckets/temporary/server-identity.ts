import { SluiceError } from '../../platform/kernel/errors.ts'
import type { SessionKey } from './sts.ts'

export type ServerKeys = Omit<SessionKey, 'sessionToken'> & { sessionToken?: string | undefined }

let provider: Promise<() => Promise<ServerKeys>> | undefined

/**
 * This server's own keys at AWS, from its environment, its web identity token file, or the metadata of its container or
 * instance. AWS's own package finds and renews them. Nothing else connects to a metadata service.
 */
export async function readServerKeys(): Promise<ServerKeys> {
  provider ??= import('@aws-sdk/credential-provider-node').then(({ defaultProvider }) => defaultProvider())
  try {
    return await (await provider)()
  } catch (cause) {
    throw new SluiceError(
      'unavailable',
      'This server has no identity at AWS, or could not obtain its keys.',
      {
        cause,
      },
    )
  }
}
