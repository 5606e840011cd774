import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { toProblem } from '../../platform/http/problem.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { UPPY_BUNDLES, type UppyFile } from './uppy-bundles.ts'

const TYPES: Record<UppyFile, string> = {
  'uppy.min.mjs': 'text/javascript; charset=utf-8',
  'uppy.min.css': 'text/css; charset=utf-8',
}

const contents = new Map<string, Promise<Buffer<ArrayBuffer>>>()

/** Any page may load it, and its address says which bytes it has, so browsers keep it for good. */
export async function serveUppy(baseUrl: string, version: string, file: string): Promise<Response> {
  const bundle = Object.hasOwn(UPPY_BUNDLES, version) ? UPPY_BUNDLES[version] : undefined
  if (!bundle || !isUppyFile(file)) {
    const { status, headers, body } = toProblem(
      new SluiceError(
        'not_found',
        'There is no such file of Uppy here. The Embed tab of a Pipe names the newest.',
      ),
      baseUrl,
    )
    return new Response(body, { status, headers: { ...headers, 'Access-Control-Allow-Origin': '*' } })
  }
  return new Response(await read(bundle.package, file), {
    headers: {
      'Access-Control-Allow-Origin': '*',
      'Cache-Control': 'public, max-age=31536000, immutable',
      'Content-Type': TYPES[file],
    },
  })
}

const isUppyFile = (file: string): file is UppyFile => Object.hasOwn(TYPES, file)

/** Read once. Next bundles modules, so the place is by the working directory. */
function read(packageName: string, file: UppyFile): Promise<Buffer<ArrayBuffer>> {
  const path = join(process.cwd(), 'node_modules', packageName, 'dist', file)
  const kept = contents.get(path)
  if (kept) return kept
  const reading = readFile(path)
  contents.set(path, reading)
  reading.catch(() => contents.delete(path))
  return reading
}
