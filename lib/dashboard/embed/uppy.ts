import { readFile } from 'node:fs/promises'
import { toProblem } from '../../platform/http/problem.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { kitPath } from './kit.ts'

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

const TYPES: Record<UppyFile, string> = {
  'uppy.min.mjs': 'text/javascript; charset=utf-8',
  'uppy.min.css': 'text/css; charset=utf-8',
}

const contents = new Map<string, Promise<Buffer<ArrayBuffer>>>()

/** Any page may load it, and its address says which bytes it has, so browsers keep it for good. */
export async function serveUppy(baseUrl: string, version: string, file: string): Promise<Response> {
  if (!Object.hasOwn(UPPY_BUNDLES, version) || !isUppyFile(file)) {
    const { status, headers, body } = toProblem(
      new SluiceError(
        'not_found',
        'There is no such file of Uppy here. The Embed tab of a Pipe has the newest version.',
      ),
      baseUrl,
    )
    return new Response(body, { status, headers: { ...headers, 'Access-Control-Allow-Origin': '*' } })
  }
  return new Response(await read(version, file), {
    headers: {
      'Access-Control-Allow-Origin': '*',
      'Cache-Control': 'public, max-age=31536000, immutable',
      'Content-Type': TYPES[file],
    },
  })
}

const isUppyFile = (file: string): file is UppyFile => Object.hasOwn(TYPES, file)

/** Read once. */
function read(version: string, file: UppyFile): Promise<Buffer<ArrayBuffer>> {
  const path = kitPath(`uppy/${version}/${file}`)
  const kept = contents.get(path)
  if (kept) return kept
  const reading = readFile(path)
  contents.set(path, reading)
  reading.catch(() => contents.delete(path))
  return reading
}
