import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { toProblem } from '../../platform/http/problem.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'

/**
 * A kit package, packed by the build. Its file name contains part of its digest, so the bytes at its URL never change.
 */
type KitFile = { name: string; version: string; file: string; integrity: string; bytes: number }

/** Relative to the working directory, because Next.js bundles this module, which changes its location. */
const FOLDER = '.kit'

export const kitPath = (file: string): string => join(process.cwd(), FOLDER, file)

/** Cached, because a process serves a single build for its lifetime. */
let files: KitFile[] | undefined

function kitFiles(): KitFile[] {
  files ??= JSON.parse(readFileSync(kitPath('kit.json'), 'utf8')) as KitFile[]
  return files
}

const kitUrl = (baseUrl: string, { file }: KitFile): string => `${baseUrl}/kit/${file}`

const urlOf = (baseUrl: string, name: string): string =>
  kitUrl(baseUrl, kitFiles().find((file) => file.name === name)!)

/** A command that installs these packages by URL, because their names on npm do not belong to this project. */
export function installKit(baseUrl: string, ...names: string[]): string {
  return ['npm install', ...names.map((name) => urlOf(baseUrl, name))].join(' \\\n  ')
}

export const installPython = (baseUrl: string): string => `pip install ${urlOf(baseUrl, 'sluice-python')}`

/** Unpacks the module's folder, for the `replace` line of a go.mod. */
export const installGo = (baseUrl: string): string => `curl -fsS ${urlOf(baseUrl, 'sluice-go')} | tar xz`

const ANY_ORIGIN = { 'Access-Control-Allow-Origin': '*' }

/** Lists the available packages, each with the digest that npm writes into lock files. */
export function listKit(baseUrl: string): Response {
  const packages = kitFiles().map(({ file, ...rest }) => ({
    ...rest,
    url: kitUrl(baseUrl, { file, ...rest }),
  }))
  return Response.json({ packages }, { headers: { ...ANY_ORIGIN, 'Cache-Control': 'no-cache' } })
}

/** The bytes at its URL never change, so browsers can cache it forever. */
const forGood = (content: Buffer<ArrayBuffer>, type: string) =>
  new Response(content, {
    headers: { ...ANY_ORIGIN, 'Cache-Control': 'public, max-age=31536000, immutable', 'Content-Type': type },
  })

function notFound(baseUrl: string, detail: string): Response {
  const { status, headers, body } = toProblem(new SluiceError('not_found', detail), baseUrl)
  return new Response(body, { status, headers: { ...headers, ...ANY_ORIGIN } })
}

/** Modules for pages without a build. Their bytes change with this server's version, so that they fit the server. */
const MODULES = {
  'uploader.js': 'packages/uploader/dist/index.js',
  'uppy.js': 'packages/uppy/dist/index.js',
}
type KitModule = keyof typeof MODULES
/** The component loads the words of the page's language from beside it. */
const LANGUAGES = ['de', 'es', 'fr', 'ja', 'pt'].map((language) => `words-${language}.js`)
export const KIT_MODULES: Record<string, string> = {
  ...MODULES,
  ...Object.fromEntries(LANGUAGES.map((file) => [file, `packages/uploader/dist/${file}`])),
}

export const kitModule = (baseUrl: string, file: KitModule): string => `${baseUrl}/kit/${file}`

export async function serveKit(baseUrl: string, file: string): Promise<Response> {
  if (Object.hasOwn(KIT_MODULES, file)) {
    const cached = { 'Cache-Control': 'public, max-age=3600', 'Content-Type': TYPES['uppy.min.mjs'] }
    return new Response(await read(file), { headers: { ...ANY_ORIGIN, ...cached } })
  }
  if (!kitFiles().some((known) => known.file === file)) {
    return notFound(baseUrl, `There is no such file. ${baseUrl}/kit lists the files of this version.`)
  }
  return forGood(
    await readFile(kitPath(file)),
    file.endsWith('.whl') ? 'application/zip' : 'application/gzip',
  )
}

/**
 * Uppy's prebuilt bundle, served from Sluice's own address. Existing pages refer to a version and its hashes, so
 * published versions are never removed: when the package is upgraded, the old version stays as an npm alias.
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

/** The version for new snippets. */
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

/** Serves a file of the bundle to any page. */
export async function serveUppy(baseUrl: string, version: string, file: string): Promise<Response> {
  if (!Object.hasOwn(UPPY_BUNDLES, version) || !isUppyFile(file)) {
    return notFound(baseUrl, 'There is no such Uppy file. Each Pipe shows the current one under Connect.')
  }
  return forGood(await read(`uppy/${version}/${file}`), TYPES[file])
}

const isUppyFile = (file: string): file is UppyFile => Object.hasOwn(TYPES, file)

/** Reads each file only once. */
function read(file: string): Promise<Buffer<ArrayBuffer>> {
  const path = kitPath(file)
  const kept = contents.get(path)
  if (kept) return kept
  const reading = readFile(path)
  contents.set(path, reading)
  reading.catch(() => contents.delete(path))
  return reading
}
