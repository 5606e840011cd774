import type { Answer } from '../answer.ts'
import { rangeHeaders, readRange } from '../byte-range.ts'
import type { Perform } from '../call.ts'
import { missingKey } from '../missing-key.ts'
import type { OpenObject } from '../object-files.ts'
import { objectHeaders, wantsChecksum } from '../object-headers.ts'
import type { S3Request } from '../request.ts'

export const getObject: Perform = async (call) => {
  const opened = await call.storage.objects.open(call.request.key)
  if (!opened) throw missingKey(call)
  try {
    return answerWith(opened, call.request)
  } catch (error) {
    await opened.file.close()
    throw error
  }
}

function answerWith({ metadata, file }: OpenObject, { headers, query }: S3Request): Answer {
  const range = readRange(headers.range, metadata.size)
  const all = {
    ...objectHeaders(metadata, { checksum: !range && wantsChecksum(headers) }),
    ...rangeHeaders(range, metadata.size),
    ...overrides(query),
  }
  const { first, last } = range ?? { first: 0, last: Math.max(0, metadata.size - 1) }
  // The stream closes the file, whether it is read to its end or not.
  const body = file.createReadStream({ start: first, end: last, highWaterMark: 2 ** 18 })
  return { status: range ? 206 : 200, headers: all, body }
}

/** `response-content-type` and its kin, as a presigned link to a download has them. */
function overrides(query: URLSearchParams): Record<string, string> {
  const named = [...query].filter(([name]) => name.startsWith('response-'))
  return Object.fromEntries(named.map(([name, value]) => [name.slice('response-'.length), value]))
}
