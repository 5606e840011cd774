import { createSluice, type Sluice } from '../../node/src/client.ts'
import { SluiceError } from '../../node/src/sluice-error.ts'
import { createTokens } from '../../react/src/tokens.ts'
import { EXIT, Failure } from './command.ts'
import { connect, isElsewhere, keepSettings, readKept, readSettings, trimmed } from './settings.ts'

export type Tokens = Pick<ReturnType<typeof createTokens>, 'take' | 'refuse'>

/** One token for all files. */
export const tokensFor = (pipeId: string, batch?: string): Tokens =>
  createTokens(async () => (await sender()).issueToken({ pipeId, ...(batch && { batch }) }))

/** This machine's Sender, created on first use. */
export async function sender(): Promise<Sluice> {
  const { baseUrl, senderToken } = readSettings()
  if (!baseUrl) throw new Failure('Sign in first: sluice login --url <address of your Sluice>', EXIT.refused)
  if (senderToken) return createSluice({ baseUrl, senderToken })
  const signedIn = connect()
  const { baseUrl: kept } = readKept()
  if (kept && isElsewhere(baseUrl, kept))
    throw new Failure(
      `The saved settings are for ${kept}, so no Sender can be saved for ${baseUrl}: set SLUICE_SENDER_TOKEN as well as SLUICE_URL, or sign in there.`,
      EXIT.refused,
    )
  const { id: senderId, token } = await signedIn.createSender({ name: await freeName(signedIn) })
  keepSettings({ baseUrl: trimmed(baseUrl), senderToken: token, senderId })
  return createSluice({ baseUrl, senderToken: token })
}

const NAME = 'Command line'

/** A name that no other Sender has, such as one of another machine: `apply` tells Senders apart by name. */
async function freeName(signedIn: Sluice): Promise<string> {
  const taken = new Set<string>()
  for await (const { name, revokedAt } of signedIn.listSenders({ limit: 100 }))
    if (revokedAt === null) taken.add(name)
  let name = NAME
  for (let n = 2; taken.has(name); n++) name = `${NAME} ${n}`
  return name
}

/**
 * Whether the stored token will still be valid after signing in: it must be for the same address, because no other
 * server may see it, and its Sender must belong to the workspace, with the same token.
 */
export async function keepsSender(signedIn: Sluice, baseUrl: string): Promise<boolean> {
  const { baseUrl: from, senderId, senderToken } = readKept()
  if (from !== baseUrl || !senderId || !senderToken) return false
  try {
    const { revokedAt, tokenLast4 } = await signedIn.showSender({ id: senderId })
    return revokedAt === null && senderToken.endsWith(tokenLast4)
  } catch (error) {
    if (error instanceof SluiceError && error.code === 'not_found') return false
    throw error
  }
}
