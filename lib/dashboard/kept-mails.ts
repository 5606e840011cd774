import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { mailFolder } from '../platform/mail/deliver-mail.ts'
import type { Runtime } from '../platform/runtime.ts'

type KeptMail = { at: string; to: string; subject: string; text: string; workspaceId: string }
type Viewer = { email: string; workspace: { id: string; demo: boolean }; actor: { role: string } }

const MOST = 50
/** How many of the newest emails are searched. */
const LOOKED_AT = 500

/**
 * Emails to the demo workspace's owner that Sluice would have sent if SMTP_URL were set, and emails on behalf of that
 * workspace, such as invitations; newest first. Other emails contain links into other people's accounts and stay in
 * DATA_DIR for the operator. Other workspaces see no emails, because a session alone must not give access to a link
 * that sets a password.
 */
export async function listKeptMails(
  { config }: Pick<Runtime, 'config'>,
  { email, workspace, actor }: Viewer,
): Promise<KeptMail[]> {
  if (!workspace.demo) return []
  const folder = mailFolder(config.dataDir)
  const names = await readdir(folder).catch(() => [])
  const newest = names
    .filter((name) => name.endsWith('.txt'))
    .sort()
    .reverse()
    .slice(0, LOOKED_AT)
  const mails: KeptMail[] = []
  for (const name of newest) {
    const mail = readKeptMail(await readFile(join(folder, name), 'utf8'))
    const own = actor.role === 'owner' && mail.to.toLowerCase() === email.toLowerCase()
    if (own || mail.workspaceId === workspace.id) mails.push(mail)
    if (mails.length === MOST) break
  }
  return mails
}

function readKeptMail(file: string): KeptMail {
  const end = file.indexOf('\n\n')
  const head = new Map(
    file
      .slice(0, end)
      .split('\n')
      .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
  )
  const field = (name: string) => head.get(name) ?? ''
  const [at, to, subject, workspaceId] = ['Date', 'To', 'Subject', 'Workspace'].map(field) as [
    string,
    string,
    string,
    string,
  ]
  return { at, to, subject, text: file.slice(end + 2), workspaceId }
}
