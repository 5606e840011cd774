import type { Entry } from '../folders/entries.ts'
import { isSluiceError, type SluiceError } from '../platform/kernel/errors.ts'

/** The code of RFC 959 for an error. Codes from 400 to 499 tell the client to try again. */
export function codeOf(error: unknown): number {
  if (!isSluiceError(error)) return 451
  const { code, status }: SluiceError = error
  if (status >= 500 || status === 423 || status === 429) return 450
  if (status === 413) return 552
  if (status === 401) return 530
  return code === 'forbidden' || code === 'invalid_request' ? 553 : 550
}

export const messageOf = (error: unknown): string =>
  isSluiceError(error) ? error.message : 'An unexpected error occurred.'

/** RFC 3659, 2.3: in UTC. */
export const timeOf = (ms: number): string => new Date(ms).toISOString().replace(/\D/g, '').slice(0, 14)

/** RFC 3659, 7.2. */
export const factsOf = (file: Pick<Entry, 'sizeBytes' | 'modifiedMs'> | undefined): string =>
  file ? `type=file;size=${file.sizeBytes};modify=${timeOf(file.modifiedMs)};` : 'type=dir;'

/** RFC 959, appendix II: quotes are doubled. */
export const quoted = (path: string): string => `"/${path.replaceAll('"', '""')}"`
