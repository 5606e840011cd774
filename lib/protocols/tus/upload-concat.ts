import { SluiceError } from '../../platform/kernel/errors.ts'
import { parseUploadPath } from '../endpoint/upload-path.ts'

/** TUS 1.0.0, Concatenation: "partial", or "final;" and the addresses of partial uploads, separated by spaces. */
type UploadConcat = { kind: 'partial' } | FinalConcat
export type FinalConcat = { kind: 'final'; partialIds: string[]; header: string }

const MAX_PARTIALS = 1000

export function parseUploadConcat(
  header: string | string[] | undefined,
  pipeId: string,
): UploadConcat | undefined {
  if (header === undefined) return undefined
  if (header === 'partial') return { kind: 'partial' }
  const text = String(header)
  const list = text.match(/^final;\s*(\S.*)$/)?.[1]
  if (!list) throw malformed('must be `partial`, or `final;` followed by the addresses of partial uploads')
  const addresses = list.trim().split(/ +/)
  if (addresses.length > MAX_PARTIALS) throw malformed(`may name ${MAX_PARTIALS} partial uploads at most`)
  const partialIds = addresses.map((address) => {
    const path = parseUploadPath(URL.parse(address, 'http://relative')?.pathname ?? '')
    if (path?.pipeId !== pipeId || !path.fileId)
      throw malformed(`names ${address}, which is not an upload of this Pipe`)
    return path.fileId
  })
  if (new Set(partialIds).size !== partialIds.length) throw malformed('names an upload twice')
  return { kind: 'final', partialIds, header: text }
}

function malformed(words: string): SluiceError {
  return new SluiceError('invalid_header', `Upload-Concat ${words}.`)
}
