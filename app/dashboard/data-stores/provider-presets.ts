import { PROVIDERS } from '#lib/workspace/data-stores/data-store.ts'
import { ENDPOINT_EXAMPLES, PRESETS } from '#lib/workspace/data-stores/presets.ts'

/** The preset data the form needs, serializable for the browser. */
export type FormPreset = {
  provider: (typeof PROVIDERS)[number]
  label: string
  /** Null if the customer has to enter it. */
  endpoint: string | null
  endpointExample: string | undefined
  fixedRegion: string | undefined
  regionExample: string | undefined
  forcePathStyle: boolean
  keysHint: string
  help: string | undefined
}

export const FORM_PRESETS: FormPreset[] = PROVIDERS.map((provider) => {
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
