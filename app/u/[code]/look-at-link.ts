import { cache } from 'react'
import { isSluiceError } from '#lib/platform/kernel/errors.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { lookAtLink, type ShownLink } from '#lib/upload-links/open-link.ts'
import { visitor } from '../../session.ts'

/** One lookup per request, since lookups of unknown codes are counted. */
export const look = cache(async (code: string): Promise<ShownLink | 'unknown' | 'limited'> => {
  const { address } = await visitor()
  try {
    return await lookAtLink(getRuntime(), code, address)
  } catch (error) {
    if (isSluiceError(error) && error.code === 'not_found') return 'unknown'
    if (isSluiceError(error) && error.code === 'rate_limited') return 'limited'
    throw error
  }
})
