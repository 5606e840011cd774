import { readFile } from 'node:fs/promises'
import { toProblem } from '../../platform/http/problem.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { kitFiles, kitPath, kitUrl } from './kit-files.ts'

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
