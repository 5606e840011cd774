import { PROVIDERS } from '#lib/workspace/data-stores/data-store.ts'
import { ENDPOINT_EXAMPLES, PRESETS } from '#lib/workspace/data-stores/presets.ts'

/** The preset data the form needs, serializable for the browser. */
export const FORM_PRESETS = PROVIDERS.map((provider) => {
  const { label, endpoint, region, forcePathStyle, keysHint, help } = PRESETS[provider]
  return {
    provider,
    label,
    endpoint,
    endpointExample: ENDPOINT_EXAMPLES[provider],
    fixedRegion: 'fixed' in region ? region.fixed : undefined,
    regionExample: 'fixed' in region ? undefined : region.example,
    forcePathStyle,
    keysHint,
    help,
  }
})
export type FormPreset = (typeof FORM_PRESETS)[number]
