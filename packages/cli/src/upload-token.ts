import { createSluice, type Sluice } from '../../node/src/client.ts'
import { EXIT, Failure } from './command.ts'
import { connect, keepSettings, readSettings } from './settings.ts'

const RENEW_BEFORE_MS = 60_000

export type UploadToken = { token: string; uploadUrl: string; expiresAt: string }
export type Tokens = { take(): Promise<UploadToken>; refuse(token: string): void }

/** One token for all files, renewed before it expires. Concurrent requests share one renewal. */
export function tokensFor(pipeId: string, batch?: string): Tokens {
  let current: Promise<UploadToken> | undefined
  const issue = async () => (await sender()).issueToken({ pipeId, ...(batch && { batch }) })
  return {
    async take() {
      current ??= issue()
      try {
        const found = await current
        if (Date.parse(found.expiresAt) - Date.now() > RENEW_BEFORE_MS) return found
        current = issue()
        return await current
      } catch (error) {
        current = undefined
        throw error
      }
    },
    refuse(token) {
      const refused = current
      void refused?.then((found) => {
        if (found.token === token && current === refused) current = undefined
      })
    },
  }
}

/** This machine's Sender, created on first use. */
export async function sender(): Promise<Sluice> {
  const { baseUrl, senderToken } = readSettings()
  if (!baseUrl) throw new Failure('Sign in first: sluice login --url <address of your Sluice>', EXIT.refused)
  if (senderToken) return createSluice({ baseUrl, senderToken })
  const { token } = await connect().createSender({ name: 'Command line' })
  keepSettings({ senderToken: token })
  return createSluice({ baseUrl, senderToken: token })
}
