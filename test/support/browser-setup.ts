import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { chromium } from 'playwright'
import { buildIfNeeded } from '../../scripts/build.ts'
import { findChromium } from './chromium.ts'
import { startSluice, temporaryFolder } from './sluice.ts'
import copySource from './source-setup.ts'

/** Once accounts with these addresses exist, they have access to the operators' console. */
export const OPERATOR = 'ops@example.com'
export const OTHER_OPERATOR = 'counts@example.com'

/**
 * One server for all specs, with the demo's owner signed in once: signing in is deliberately slow, and rate-limited.
 */
export default async function setup(): Promise<() => Promise<void>> {
  await buildIfNeeded()
  const removeSource = copySource()
  const folder = temporaryFolder()
  const operators = { OPERATORS: `${OPERATOR},${OTHER_OPERATOR}` }
  const sluice = await startSluice({ DATA_DIR: folder.path, LOG_LEVEL: 'warn', ...operators })
  process.env.SLUICE_URL = sluice.baseUrl
  process.env.SLUICE_DATA = folder.path
  process.env.SLUICE_STATE = join(folder.path, 'signed-in.json')
  await signIn(sluice.baseUrl, folder.path, process.env.SLUICE_STATE)
  return async () => {
    await sluice.stop()
    removeSource()
    folder[Symbol.dispose]()
  }
}

async function signIn(baseUrl: string, dataDir: string, statePath: string): Promise<void> {
  const { email, password } = JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8'))
  const browser = await chromium.launch(await findChromium())
  const page = await browser.newPage({ baseURL: baseUrl })
  await page.goto('/login')
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForURL('**/dashboard')
  await page.context().storageState({ path: statePath })
  await browser.close()
}
