import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { createSluice, type Sluice } from '../../node/src/client.ts'
import { EXIT, Failure } from './command.ts'

/** What `login` stores, in a file that only its owner can read. The environment takes precedence. */
export type Settings = {
  baseUrl?: string
  accountKey?: string
  senderToken?: string
  /** The Sender that the token belongs to, if this program created it. */
  senderId?: string
  pipeId?: string
  /** Signs the events that `listen` forwards; generated once. */
  listenSecret?: string
}

export function settingsFolder(): string {
  const { SLUICE_CONFIG_DIR, XDG_CONFIG_HOME } = process.env
  return SLUICE_CONFIG_DIR ?? join(XDG_CONFIG_HOME ?? join(homedir(), '.config'), 'sluice')
}

const file = () => join(settingsFolder(), 'settings.json')

export function readSettings(): Settings {
  const { SLUICE_URL, SLUICE_ACCOUNT_KEY, SLUICE_SENDER_TOKEN, SLUICE_PIPE_ID } = process.env
  const given = {
    baseUrl: SLUICE_URL,
    accountKey: SLUICE_ACCOUNT_KEY,
    senderToken: SLUICE_SENDER_TOKEN,
    pipeId: SLUICE_PIPE_ID,
  }
  const kept = readKept()
  const { listenSecret } = kept
  // No other server may receive the key and the token of the one that the user has signed in to.
  const own = isElsewhere(SLUICE_URL, kept.baseUrl) ? { ...(listenSecret && { listenSecret }) } : kept
  return { ...own, ...Object.fromEntries(Object.entries(given).filter(([, value]) => value)) }
}

export function isElsewhere(given: string | undefined, kept: string | undefined): boolean {
  return given !== undefined && given !== '' && trimmed(given) !== trimmed(kept ?? '')
}

export const trimmed = (url: string) => url.replace(/\/+$/, '')

/** Without the environment. */
export function readKept(): Settings {
  try {
    return JSON.parse(readFileSync(file(), 'utf8'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw new Failure(`${file()} cannot be read: ${(error as Error).message}`)
  }
}

export function keepSettings(changes: Settings): void {
  mkdirSync(settingsFolder(), { recursive: true, mode: 0o700 })
  const next = `${file()}.${process.pid}`
  writeFileSync(next, `${JSON.stringify({ ...readKept(), ...changes }, null, 2)}\n`, { mode: 0o600 })
  chmodSync(next, 0o600)
  renameSync(next, file())
}

/** A client for the signed-in user. */
export function connect(): Sluice {
  const { baseUrl, accountKey } = readSettings()
  if (baseUrl && accountKey) return createSluice({ baseUrl, accountKey })
  const { baseUrl: kept } = readKept()
  if (kept && isElsewhere(baseUrl, kept))
    throw new Failure(
      `You are signed in to ${kept}, not to ${baseUrl}: set SLUICE_ACCOUNT_KEY as well as SLUICE_URL, or sign in there.`,
      EXIT.refused,
    )
  throw new Failure('Sign in first: sluice login --url <address of your Sluice>', EXIT.refused)
}

const MOST_LISTED = 20

/** The given Pipe, the one in the settings, or the only one. */
export async function choosePipe(named: string | undefined): Promise<string> {
  const kept = named ?? readSettings().pipeId
  if (kept) return kept
  const { data, nextCursor } = await connect().listPipes({ limit: MOST_LISTED })
  if (data.length === 0) throw new Failure('There is no Pipe yet.')
  if (data.length === 1) return data[0]!.id
  const listed = data.map(({ id, name }) => `  ${id}  ${name}`)
  const more = nextCursor === null ? [] : ['  …']
  throw new Failure('There are several Pipes: specify one with --pipe.', EXIT.failed, [...listed, ...more])
}
