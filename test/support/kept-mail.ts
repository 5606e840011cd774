import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { mailFolder } from '#lib/platform/mail/deliver-mail.ts'

/** The link to a page in the latest email to an address, if the server stores emails as files. */
export function keptLink(email: string, path: string): string | undefined {
  const folder = mailFolder(process.env.SLUICE_DATA!)
  const mails = readdirSync(folder)
    .sort()
    .map((name) => readFileSync(join(folder, name), 'utf8'))
  const mail = mails.findLast((text) => text.includes(`To: ${email}`) && text.includes(`${path}#`))
  return mail?.match(/\S+#\S+/)?.[0]
}
