import { readFile } from 'node:fs/promises'
import { toProblem } from '../../platform/http/problem.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { kitPath } from './kit-files.ts'
import { UPPY_BUNDLES, type UppyFile } from './uppy-bundles.ts'

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
