import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { toProblem } from '../../platform/http/problem.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'

/** A package of the kit, packed by the build. Its name has a part of its digest, so that its bytes never change. */
type KitFile = { name: string; version: string; file: string; integrity: string; bytes: number }

/** Next bundles modules, so the place is by the working directory. */
const FOLDER = '.kit'

export const kitPath = (file: string): string => join(process.cwd(), FOLDER, file)

/** A process serves one build for as long as it lives. */
let files: KitFile[] | undefined

function kitFiles(): KitFile[] {
  files ??= JSON.parse(readFileSync(kitPath('kit.json'), 'utf8')) as KitFile[]
  return files
}

const kitUrl = (baseUrl: string, { file }: KitFile): string => `${baseUrl}/kit/${file}`

/** What installs these packages, by address, since the names on npm are not ours. */
export function installKit(baseUrl: string, ...names: string[]): string {
  const urls = names.map((name) => kitUrl(baseUrl, kitFiles().find((file) => file.name === name)!))
  return ['npm install', ...urls].join(' \\\n  ')
}

const ANY_ORIGIN = { 'Access-Control-Allow-Origin': '*' }

/** What there is, each with the digest that npm writes into a lock file. */
export function listKit(baseUrl: string): Response {
  const packages = kitFiles().map(({ file, ...rest }) => ({
    ...rest,
    url: kitUrl(baseUrl, { file, ...rest }),
  }))
  return Response.json({ packages }, { headers: { ...ANY_ORIGIN, 'Cache-Control': 'no-cache' } })
}

export async function serveKit(baseUrl: string, file: string): Promise<Response> {
  if (!kitFiles().some((known) => known.file === file)) {
    const { status, headers, body } = toProblem(
      new SluiceError('not_found', `There is no such file here. ${baseUrl}/kit lists those of this version.`),
      baseUrl,
    )
    return new Response(body, { status, headers: { ...headers, ...ANY_ORIGIN } })
  }
  return new Response(await readFile(kitPath(file)), {
    headers: {
      ...ANY_ORIGIN,
      'Cache-Control': 'public, max-age=31536000, immutable',
      'Content-Type': 'application/gzip',
    },
  })
}
