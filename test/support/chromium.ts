import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { chromium, type LaunchOptions } from 'playwright'

const SYSTEM_NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

/** A Chromium to test in: Playwright's own, else the system's, else the one that an npm package carries. */
export async function findChromium(): Promise<LaunchOptions> {
  // A sandbox cannot be had as root, as in most containers.
  const args = process.getuid?.() === 0 ? ['--no-sandbox', '--no-zygote'] : []
  if (existsSync(chromium.executablePath())) return { args }
  const executablePath = onPath() ?? (await fromPackage())
  if (executablePath) return { executablePath, args: [...args, '--disable-gpu'] }
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

/** It unpacks itself into the folder for temporary files, once. */
async function fromPackage(): Promise<string | undefined> {
  const carried = await import('@sparticuz/chromium').catch(() => undefined)
  return carried?.default.executablePath()
}
