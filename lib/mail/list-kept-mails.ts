import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Runtime } from '../runtime.ts'
import { mailFolder } from './deliver-mail.ts'

export type KeptMail = { at: string; to: string; subject: string; text: string }

const NEWEST = 50

/** What would have been sent if there were an SMTP_URL, newest first: for the demo workspace. */
export async function listKeptMails({ config }: Pick<Runtime, 'config'>): Promise<KeptMail[]> {
  const folder = mailFolder(config.dataDir)
  const names = await readdir(folder).catch(() => [])
  const newest = names
    .filter((name) => name.endsWith('.txt'))
    .sort()
    .reverse()
    .slice(0, NEWEST)
  return Promise.all(newest.map(async (name) => readKeptMail(await readFile(join(folder, name), 'utf8'))))
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
  return { at: field('Date'), to: field('To'), subject: field('Subject'), text: file.slice(end + 2) }
}
