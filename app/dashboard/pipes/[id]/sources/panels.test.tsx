import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it, vi } from 'vitest'
import { RightsProvider } from '#components/ui/rights.tsx'
import { ALL_RIGHTS } from '#lib/identity/rights.ts'
import type { Pipe } from '#lib/workspace/pipes/pipe.ts'
import { HttpSource, UrlSource } from './panels.tsx'

// Switches use Next's router, which is missing here.
vi.mock('next/navigation', () => ({ useRouter: () => ({}) }))

const pipe = {
  id: 'pipe_k3v6q2m7x4ra5tzw2n6c',
  uploadUrl: 'http://localhost:3000/pipes/pipe_k3v6q2m7x4ra5tzw2n6c/files/',
  source: { http: true, url: true, sftp: false, ftps: false, ftp: false },
} as Pipe

const linksIn = (blocked: boolean) => {
  const html = renderToStaticMarkup(
    <RightsProvider rights={ALL_RIGHTS}>
      <HttpSource pipe={pipe} blocked={blocked} />
      <UrlSource pipe={pipe} blocked={blocked} />
    </RightsProvider>,
  )
  return [...html.matchAll(/<a [^>]*>([^<]*)/g)].map(([, text]) => text)
}

it('offers an upload and an import only while the Pipe accepts them', () => {
  expect(linksIn(false)).toEqual(['Embed', 'try it here', 'API', 'paste URLs here'])
  expect(linksIn(true)).toEqual(['Embed', 'API'])
})
