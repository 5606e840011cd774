import type { IncomingHttpHeaders } from 'node:http'
import { type BareItem, parseItem } from 'structured-headers'

type Field = string | string[] | undefined

export const PARTIAL_UPLOAD = 'application/partial-upload'

/** Every client of a draft sends this field, and no client of TUS. */
export function namesVersion(headers: IncomingHttpHeaders): boolean {
  return countField(headers['upload-draft-interop-version']) !== undefined
}

/** Whether a field shows that this is Resumable Uploads for HTTP. A malformed field counts as absent. */
export function isOfDraft(headers: IncomingHttpHeaders): boolean {
  return completeness(headers) !== undefined || isPartialUpload(headers)
}

export function isPartialUpload(headers: IncomingHttpHeaders): boolean {
  const [type = ''] = headers['content-type']?.split(';', 1) ?? []
  return type.trim().toLowerCase() === PARTIAL_UPLOAD
}

/** Whether the request brings the end of the file. Undefined if the field is absent or malformed. */
export function completeness(headers: IncomingHttpHeaders): boolean | undefined {
  const complete = booleanField(headers['upload-complete'])
  if (complete !== undefined) return complete
  const incomplete = booleanField(headers['upload-incomplete'])
  return incomplete === undefined ? undefined : !incomplete
}

/** "a non-negative Integer … Other values MUST cause the entire header field to be ignored" */
export function countField(field: Field): number | undefined {
  const value = itemOf(field)
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && !/\./.test(String(field))
    ? value
    : undefined
}

function booleanField(field: Field): boolean | undefined {
  const value = itemOf(field)
  return typeof value === 'boolean' ? value : undefined
}

/** RFC 9651, 4.2: a field that cannot be parsed is ignored. */
function itemOf(field: Field): BareItem | undefined {
  if (field === undefined) return undefined
  try {
    return parseItem(String(field))[0]
  } catch {
    return undefined
  }
}
