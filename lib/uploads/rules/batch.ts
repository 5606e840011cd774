import { SluiceError } from '../../platform/kernel/errors.ts'
import { uuidFrom } from '../../platform/kernel/ids.ts'
import { isPlainText } from '../../platform/kernel/parse-input.ts'

/**
 * The values that identify a batch. Two uploaders, or an uploader and a token, never share a batch merely because they
 * use the same name.
 */
type BatchKey = { pipeId: string; senderId: string; subject: string | null; name: string; byToken: boolean }
export type Batch = BatchKey & { id: string; workspaceId: string }

const MAX_NAME = 200

type Token = { workspaceId: string; senderId: string; subject: string | null; batch: string | null }

/** The batch named by the token, otherwise the one named by the uploader. */
export function batchOf(token: Token, pipeId: string, named: string | undefined): Batch | null {
  const name = token.batch ?? named
  if (name === undefined) return null
  if (name === '' || name.length > MAX_NAME || !isPlainText(name))
    throw new SluiceError(
      'invalid_header',
      `A batch name has 1 to ${MAX_NAME} characters and no control characters.`,
    )
  const { workspaceId, senderId, subject } = token
  const key = { pipeId, senderId, subject, name, byToken: token.batch !== null }
  return { id: batchId(key), workspaceId, ...key }
}

export function batchId({ pipeId, senderId, subject, name, byToken }: BatchKey): string {
  return uuidFrom(pipeId, senderId, subject, name, byToken)
}
