import { emptyAnswer } from '../answer.ts'
import { rangeHeaders, readRange } from '../byte-range.ts'
import type { Perform } from '../call.ts'
import { missingKey } from '../missing-key.ts'
import { objectHeaders, wantsChecksum } from '../object-headers.ts'

export const headObject: Perform = async (call) => {
  const { headers } = call.request
  const metadata = await call.storage.objects.find(call.request.key)
  if (!metadata) throw missingKey(call)
  const range = readRange(headers.range, metadata.size)
  const whole = objectHeaders(metadata, { checksum: !range && wantsChecksum(headers) })
  return emptyAnswer(range ? 206 : 200, { ...whole, ...rangeHeaders(range, metadata.size) })
}
