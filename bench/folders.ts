import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { chromium } from 'playwright'
import type { Sluice } from '../packages/node/src/client.ts'
import { findChromium } from '../test/support/chromium.ts'
import { startCustomerSite } from '../test/support/customer-site.ts'
import { pageWith } from '../test/support/kit-page.ts'

/** Checks that a folder with many subfolders arrives unchanged, for each way to upload it. */
const FOLDERS = 200
const FILES_EACH = 10
const NAME = 'shoot'

/** Creates two levels of folders, with names that must be encoded in URLs and headers. */
export function makeFolders(parent: string): string {
  const path = join(parent, NAME)
  for (let n = 0; n < FOLDERS; n++) {
    const folder = join(path, `día ${Math.floor(n / 20)}`, `set #${n}`)
    mkdirSync(folder, { recursive: true })
    for (let file = 0; file < FILES_EACH; file++) writeFileSync(join(folder, `${file} é.txt`), `${n}/${file}`)
  }
  return path
}

/** Lists the files in a folder, or a Pipe's files in its bucket, whose keys end with the id and the name. */
export function filesIn(directory: string): string[] {
  if (!existsSync(directory)) return []
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(directory.length + 1)
        .normalize(),
    )
    .map((path) => path.replace(/[0-9a-f]{8}-[0-9a-f-]{27}\//, ''))
    .sort()
}

/** Drops a real folder, which Chromium itself reads from disk. */
export async function dropFolder(
  sluice: Sluice,
  pipeId: string,
  { path, arriving }: { path: string; arriving: string },
): Promise<void> {
  const page = await pageWith('<UploadDropzone parallel={8} />')
  const site = await startCustomerSite(page, async () => Response.json(await sluice.issueToken({ pipeId })))
  const browser = await chromium.launch(await findChromium())
  try {
    const tab = await browser.newPage({ viewport: { width: 1280, height: 800 } })
    await tab.goto(site.url)
    const { x, y } = (await tab.locator('.sluice-dropzone').boundingBox())!
    const input = await tab.context().newCDPSession(tab)
    for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
      await input.send('Input.dispatchDragEvent', {
        type,
        x: x + 5,
        y: y + 5,
        data: { items: [], files: [path], dragOperationsMask: 1 },
      })
    while (filesIn(arriving).length < FOLDERS * FILES_EACH) await pause(250)
  } finally {
    await browser.close()
    await site.close()
  }
}

/** Uploads with curl, with an option for each file. */
export async function sendByCurl(sluice: Sluice, pipeId: string, path: string, home: string): Promise<void> {
  const { token, uploadUrl } = await sluice.issueToken({ pipeId })
  const options = filesIn(path).map((file) => {
    const address = [NAME, ...file.split('/')].map(encodeURIComponent).join('/')
    return `upload-file = "${join(path, file)}"\nurl = "${uploadUrl}${address}"\noutput = /dev/null`
  })
  const config = join(home, 'curl.txt')
  writeFileSync(config, options.join('\n'))
  const all = [
    '--silent',
    '--fail',
    '--parallel',
    '--parallel-max',
    '8',
    '-H',
    `Authorization: Bearer ${token}`,
  ]
  await promisify(execFile)('curl', [...all, '--config', config])
}
