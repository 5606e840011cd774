import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { chromium, type LaunchOptions } from 'playwright'

const SYSTEM_NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

/** A Chromium to test in: Playwright's own, otherwise the system's, otherwise the one in an npm package. */
export async function findChromium(): Promise<LaunchOptions> {
  // There is no sandbox as root, such as in most containers.
  const args = process.getuid?.() === 0 ? ['--no-sandbox', '--no-zygote'] : []
  // Without a UTF-8 locale, it opens no file in a folder with an accented name.
  const env = { ...process.env, LC_ALL: 'C.UTF-8' }
  if (existsSync(chromium.executablePath())) return { args, env }
  const executablePath = onPath() ?? (await fromPackage())
  if (executablePath) return { executablePath, env, args: [...args, '--disable-gpu'] }
  throw new Error(
    'There is no Chromium. Install one: npx playwright install chromium, or the package chromium of the system.',
  )
}

function onPath(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter)
  return SYSTEM_NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find((path) =>
    existsSync(path),
  )
}

/** It unpacks itself once into the folder for temporary files. */
async function fromPackage(): Promise<string | undefined> {
  const carried = await import('@sparticuz/chromium').catch(() => undefined)
  return carried?.default.executablePath()
}
