import { Failure } from './failure.ts'
import type { UploadOptions } from './file-upload.ts'

export type UploadToken = { token: string; expiresAt: string; uploadUrl: string }
export type Tokens = ReturnType<typeof createTokens>

const RENEW_BEFORE_MS = 60_000

/** The current token for all uploads: requested once, and again a minute before it expires or when it is refused. */
export function createTokens(ask: () => Promise<UploadToken>) {
  let current: UploadToken | undefined
  let asking: Promise<UploadToken> | undefined
  function renew(): Promise<UploadToken> {
    const mine = ask()
      .then((token) => {
        if (asking === mine) current = token
        return token
      })
      .finally(() => {
        if (asking === mine) asking = undefined
      })
    return mine
  }

  return {
    async take(): Promise<UploadToken> {
      if (current && Date.parse(current.expiresAt) - Date.now() >= RENEW_BEFORE_MS) return current
      asking ??= renew()
      return asking
    },
    /** Discards the current token, and one that is being requested. */
    forget(): void {
      current = undefined
      asking = undefined
    },
    /** Discards this token, unless another upload has already replaced it. */
    refuse(token: string | undefined): void {
      if (current?.token === token) current = undefined
    },
  }
}

type Source = Pick<UploadOptions, 'getToken' | 'tokenUrl' | 'transport'>

/** Tokens from the page's own function, or from its backend. */
export function tokensFor({ getToken, tokenUrl = '/api/upload-token', transport = {} }: Source): Tokens {
  const { fetch = (...args) => globalThis.fetch(...args) } = transport
  return createTokens(getToken ?? (() => askBackend(tokenUrl, fetch)))
}

/** Requests a token from the page's own backend, as returned by `createTokenHandler`. */
export async function askBackend(url: string, fetch: typeof globalThis.fetch): Promise<UploadToken> {
  const response = await fetch(url, { method: 'POST' })
  if (!response.ok) throw new Failure(`No upload token: ${response.status}`, response.status, 'no_token')
  const answer = readToken(await response.text())
  if (!answer?.token || !answer.expiresAt || !answer.uploadUrl)
    throw new Failure(`${url} responded without a token, its expiry and an uploadUrl`, 400)
  return answer as UploadToken
}

/** Undefined if the response is not JSON, such as a sign-in page that a signed-out user was redirected to. */
function readToken(text: string): Partial<UploadToken> | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
