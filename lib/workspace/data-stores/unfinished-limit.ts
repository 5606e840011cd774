import type { ProviderName } from '#drizzle/schema/index.ts'
import { capabilitiesOf } from '../../buckets/providers.ts'
import { PRESETS } from './presets.ts'

/** How long an upload may take where its provider drops what is unfinished, in words for the page of a Pipe. */
export function unfinishedLimit(provider: ProviderName): string | undefined {
  const { dropsUnfinishedAfterHours: hours } = capabilitiesOf(provider, null)
  if (hours === null) return undefined
  return `${PRESETS[provider].label} drops uploads that are unfinished ${inWords(hours)} after their start, however often bytes come. So each must be finished within ${inWords(hours - 1)}, and ends as expired if it is not.`
}

function inWords(hours: number): string {
  const days = Math.floor(hours / 24)
  const rest = hours % 24
  if (days < 2) return `${hours} hours`
  return rest === 0 ? `${days} days` : `${days} days and ${rest} hours`
}
