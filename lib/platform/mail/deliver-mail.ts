import { randomUUID } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createTransport } from 'nodemailer'
import type { Runtime } from '../runtime.ts'
import type { Mail } from './mail.ts'

const SMTP_TIMEOUT_MS = 20_000

export const mailFolder = (dataDir: string) => join(dataDir, 'mail')

/** Sends an email using SMTP_URL. Without it, stores the email as a file that only its owner can read. */
export async function deliverMail(
  { config, clock }: Pick<Runtime, 'config' | 'clock'>,
  mail: Mail,
): Promise<void> {
  const date = new Date(clock.now())
  if (!config.smtpUrl) return keepMail(mailFolder(config.dataDir), config.mailFrom, mail, date)
  const timeouts = {
    connectionTimeout: SMTP_TIMEOUT_MS,
    greetingTimeout: SMTP_TIMEOUT_MS,
    socketTimeout: SMTP_TIMEOUT_MS,
  }
  const transport = createTransport({ url: config.smtpUrl, ...timeouts })
  try {
    const { to, subject, text } = mail
    await transport.sendMail({ from: config.mailFrom, date, to, subject, text })
  } finally {
    transport.close()
  }
}

async function keepMail(folder: string, from: string, mail: Mail, date: Date): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const { to, subject, workspaceId: of } = mail
  const head = {
    Date: date.toISOString(),
    From: from,
    To: to,
    Subject: subject,
    ...(of && { Workspace: of }),
  }
  const lines = Object.entries(head).map(([name, value]) => `${name}: ${value.replace(/[\r\n]+/g, ' ')}`)
  const name = `${date.toISOString().replaceAll(':', '-')}-${randomUUID()}.txt`
  await writeFile(join(folder, name), `${lines.join('\n')}\n\n${mail.text}`, { mode: 0o600 })
}
