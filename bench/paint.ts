import { type Browser, chromium } from 'playwright'
import { buildIfNeeded } from '../scripts/build.ts'
import { writeHistory } from '../scripts/screenshots/believable-history.ts'
import { findChromium } from '../test/support/chromium.ts'
import { sessionCookie } from '../test/support/session.ts'
import { startSluice, temporaryFolder } from '../test/support/sluice.ts'
import { readDemo } from '../test/support/target.ts'
import type { Finding } from './cases.ts'

/**
 * Measures when a page's largest element appears, in a browser with an empty cache and a processor that is four times
 * slower.
 */
const SLOWER = 4
const ROUNDS = 5
const MAX_MS = 1000
const PATHS = [
  '/',
  '/docs',
  '/docs/api',
  '/login',
  '/dashboard',
  '/dashboard/files',
  '/dashboard/webhooks',
  '/dashboard/pipes/<pipe>/try',
]

export async function benchPaint(): Promise<Finding[]> {
  buildIfNeeded()
  using folder = temporaryFolder()
  const sluice = await startSluice({ DATA_DIR: folder.path, LOG_LEVEL: 'warn' })
  const browser = await chromium.launch(await findChromium())
  try {
    const demo = readDemo(folder.path)
    await writeHistory(folder.path, demo)
    const cookie = await sessionCookie(demo)
    const findings: Finding[] = []
    for (const path of PATHS) {
      const url = demo.baseUrl + path.replace('<pipe>', demo.pipeId)
      const times: number[] = []
      // The first visit is not measured: it warms up the server.
      for (let round = -1; round < ROUNDS; round++) {
        const time = await paintMs(browser, url, cookie)
        if (round >= 0) times.push(time)
      }
      times.sort((a, b) => a - b)
      const median = Math.round(times[ROUNDS >> 1]!)
      findings.push({
        what: `Largest contentful paint of ${path}, with the CPU slowed down ${SLOWER} times`,
        measured: `${median} ms, the slowest of ${ROUNDS} ${Math.round(times.at(-1)!)} ms`,
        wanted: `≤ ${MAX_MS} ms`,
        holds: median <= MAX_MS,
      })
    }
    return findings
  } finally {
    await browser.close()
    await sluice.stop()
  }
}

async function paintMs(browser: Browser, url: string, cookie: string): Promise<number> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } })
  const [name, value] = cookie.split(/=(.*)/s) as [string, string]
  await context.addCookies([{ name, value, url }])
  const page = await context.newPage()
  const session = await context.newCDPSession(page)
  await session.send('Emulation.setCPUThrottlingRate', { rate: SLOWER })
  await page.addInitScript(() => {
    const paints: number[] = []
    Object.assign(window, { paints })
    new PerformanceObserver((list) => {
      for (const { startTime } of list.getEntries()) paints.push(startTime)
    }).observe({ type: 'largest-contentful-paint', buffered: true })
  })
  // Waits until the page has nothing left to do. Its network is never idle, since a live page keeps a stream open.
  await page.goto(url, { waitUntil: 'load' })
  const last = await page.evaluate(async () => {
    await document.fonts.ready
    await new Promise((resolve) => requestIdleCallback(resolve))
    return (window as unknown as { paints: number[] }).paints.at(-1)
  })
  await context.close()
  if (last === undefined) throw new Error(`${url}: the browser reported no paint.`)
  return last
}
