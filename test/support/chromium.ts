import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { chromium, type LaunchOptions } from 'playwright'

const SYSTEM_NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

/** Finds a Chromium to test in: Playwright's own, otherwise the system's, otherwise the one in an npm package. */
export async function findChromium(): Promise<LaunchOptions> {
  // The sandbox does not work for root, which is the user in most containers.
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  // Without a UTF-8 locale, Chromium cannot open files in a folder with an accented name.
  const env = { ...process.env, LC_ALL: 'C.UTF-8' }
  if (existsSync(chromium.executablePath())) return { args, env }
  const executablePath = onPath() ?? (await fromPackage())
  if (executablePath) return { executablePath, env, args: [...args, '--disable-gpu'] }
  throw new Error(
    'Chromium was not found. Install it with `npx playwright install chromium` or from the system packages.',
  )
}

function onPath(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter)
  return SYSTEM_NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find((path) =>
    existsSync(path),
  )
}

/** The package unpacks Chromium into the folder for temporary files, once. */
async function fromPackage(): Promise<string | undefined> {
  const carried = await import('@sparticuz/chromium').catch(() => undefined)
  return carried?.default.executablePath()
}
