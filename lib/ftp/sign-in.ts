import { refused, type SignedIn, signInByToken } from '../folders/sign-in.ts'
import type { FolderProtocol } from '../folders/terms.ts'
import { days } from '../platform/kernel/clock.ts'
import { parseInput } from '../platform/kernel/parse-input.ts'
import type { Config } from '../platform/settings/config.ts'
import type { UploadContext } from '../uploads/upload-context.ts'
import { issueToken } from '../workspace/tokens/issue-token.ts'
import { tokenInput } from '../workspace/tokens/token.ts'

type Context = Pick<UploadContext, 'db' | 'clock' | 'rights'> & { config: Config }
export type FtpProtocol = Exclude<FolderProtocol, 'sftp'>

/**
 * Signs in with a Pipe id and either a temporary token or a Sender token. Devices keep their password for years, so a
 * Sender token is what they are configured with; the session gets a temporary token of its own. `takesPlain` says whether
 * the Pipe also accepts unencrypted FTP.
 */
export async function signIn(
  { config, ...context }: Context,
  { user, password, protocol }: { user: string; password: string; protocol: FtpProtocol },
): Promise<{ signedIn: SignedIn; takesPlain: boolean }> {
  if (protocol === 'ftp' && !config.ftp?.plain) throw refused('This server only accepts FTP over TLS.')
  const ownsToken = password.startsWith('sk_')
  const token = ownsToken ? await tokenOf({ ...context, config }, { user, password, protocol }) : password
  const signedIn = await signInByToken(context, { user, password: token, protocol })
  const { pipe } = await context.rights.toCreate(token, user, protocol)
  return { signedIn: { ...signedIn, ownsToken }, takesPlain: pipe.sourceFtp && config.ftp?.plain === true }
}

async function tokenOf(
  context: Omit<Context, 'rights'>,
  { user, password, protocol }: { user: string; password: string; protocol: FtpProtocol },
): Promise<string> {
  const input = parseInput(tokenInput, { pipeId: user, expiresIn: days(1) / 1000 })
  return (await issueToken(context, password, input, protocol)).token
}
