import { SluiceError } from '#lib/platform/kernel/errors.ts'

const CALLBACK_COOKIE = /(?:^|; *)(?:__Secure-)?next-auth\.callback-url=([^;]*)/

/** next-auth assumes its input is well-formed and responds with 500 otherwise. */
export async function assertWellFormed(request: Request, base: string): Promise<void> {
  const { searchParams, pathname } = new URL(request.url)
  if (request.method === 'GET' && pathname.endsWith('/callback/credentials'))
    throw new SluiceError('method_not_allowed', 'Use the form on the sign-in page.', {
      headers: { Allow: 'POST' },
    })
  const cookie = request.headers.get('cookie')?.match(CALLBACK_COOKIE)?.[1]
  const sent = [searchParams.get('callbackUrl'), await callbackOfBody(request.clone()), decoded(cookie)]
  for (const address of sent) {
    if (!address || isAddress(address, base)) continue
    throw new SluiceError('invalid_request', 'callbackUrl must be a path, or an http or https address.')
  }
}

function isAddress(text: string, base: string): boolean {
  return /^https?:$/.test(URL.parse(text, text.startsWith('/') ? base : undefined)?.protocol ?? '')
}

async function callbackOfBody(request: Request): Promise<string | null> {
  if (request.method !== 'POST') return null
  const body = await request.text()
  if (!request.headers.get('content-type')?.includes('application/json'))
    return new URLSearchParams(body).get('callbackUrl')
  try {
    const { callbackUrl = '' } = JSON.parse(body)
    if (typeof callbackUrl === 'string') return callbackUrl
  } catch {
    throw new SluiceError('invalid_json')
  }
  throw new SluiceError('invalid_request', 'callbackUrl must be a string.')
}

function decoded(text: string | undefined): string | undefined {
  try {
    return text && decodeURIComponent(text)
  } catch {
    return text
  }
}
