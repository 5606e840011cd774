import type { CreationRight } from '../../uploads/ledger/upload-rights.ts'
import { maxUploadBytes } from '../../uploads/opening/may-create.ts'
import { partLimits } from '../../uploads/rules/part-plan.ts'
import type { UploadContext } from '../../uploads/upload-context.ts'
import { limitHeader } from './state-headers.ts'
import type { Version } from './versions.ts'

/** Upload-Limit for an upload that expires at `untilMs`. */
export function limitsOf(
  context: UploadContext,
  { token, pipe, dataStore }: CreationRight,
  version: Version,
  untilMs: number,
): Record<string, string> {
  const bucket = context.openBucket(dataStore)
  const limits = partLimits(bucket.capabilities, context.budget.maxPartBytes)
  const may = { tokenBytes: token.maxBytes, pipeBytes: pipe.maxFileBytes }
  return limitHeader(version, {
    maxBytes: maxUploadBytes(limits, may),
    aliveMs: untilMs - context.clock.now(),
  })
}
