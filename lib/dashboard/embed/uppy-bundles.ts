/**
 * Uppy's ready-made bundle, served from Sluice's own address. Pages out there name a version and its hashes, so a
 * published version is never taken away: when the package is upgraded, the old one stays as an npm alias.
 */
export type UppyFile = 'uppy.min.mjs' | 'uppy.min.css'
type Bundle = { package: string; integrity: Record<UppyFile, string> }

export const UPPY_BUNDLES: Record<string, Bundle> = {
  '6.0.1': {
    package: 'uppy',
    integrity: {
      'uppy.min.mjs': 'sha384-ibzuQniQwjcmBtoTgMSBRMy8iwmKC4+2n7xAQ5yBQFd/A2sJQ7ZWEG9xDDhEcady',
      'uppy.min.css': 'sha384-mrtEQQ4LVy5xVIhmsZQL/qDhY5S+hOl9KZCOjtObtWSmsx0PI9RUdc6nyFftj/Jx',
    },
  },
}

/** The one that new snippets name. */
const CURRENT = '6.0.1'

export function currentUppy(baseUrl: string, file: UppyFile): { url: string; integrity: string } {
  return {
    url: `${baseUrl}/uppy/${CURRENT}/${file}`,
    integrity: UPPY_BUNDLES[CURRENT]!.integrity[file],
  }
}
