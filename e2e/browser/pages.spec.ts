import type { Page } from 'playwright/test'
import type { DemoDocument } from '#lib/dashboard/demo/ensure-demo.ts'
import { fillIn } from '../../test/support/addresses.ts'
import { expectAccessible, expectAccessibleInLight } from '../../test/support/axe.ts'
import { beginUpload, tokenFor } from '../../test/support/begin-upload.ts'
import { api, expect, listen, test } from '../../test/support/browser.ts'
import { startPiecewiseProxy } from '../../test/support/http-proxies.ts'
import { DASHBOARD_PAGES, PUBLIC_PAGES } from '../../test/support/pages.ts'

/** The pages that are checked for a newly signed-up user. */
const EMPTY = [
  '/dashboard',
  '/dashboard/data-stores',
  '/dashboard/pipes',
  '/dashboard/pipes/new',
  '/dashboard/senders',
  '/dashboard/files',
  '/dashboard/webhooks',
  '/dashboard/webhooks/inbox',
  '/dashboard/webhooks/verify',
  '/dashboard/usage',
  '/dashboard/settings/keys',
  '/dashboard/settings/audit',
]

/** The narrowest width of each layout, which leaves the least room. */
const WIDTHS = [1280, 1024, 768, 320]
const MAX_SCRIPT_BYTES = 178_000
/** With the code of an uploader, or of a dialog that is open from the start. */
const MAX_SCRIPT_BYTES_WITH_MORE = 199_000
const WITH_MORE = ['/dashboard/pipes/{pipeId}/try', '/dashboard/webhooks?delivery={deliveryId}']
const MAX_SHIFT = 0.02
const DESKTOP = { width: 1280, height: 900 }

/** Documentation pages share a template, so dark colors are checked on one page of each kind. */
const DOCS_IN_THE_DARK = /^\/docs(\/(api|webhooks|errors|problems\/.*|guides\/nextjs))?$/
const isLikeOthers = (path: string) => path.startsWith('/docs') && !DOCS_IN_THE_DARK.test(path)

type Shift = { value: number; moved: string[] }
/** Missing from TypeScript's types. */
type LayoutShift = {
  value: number
  sources: { node: Node | null; previousRect: DOMRectReadOnly; currentRect: DOMRectReadOnly }[]
}

async function watchShifts(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const shifts: Shift[] = []
    Object.assign(window, { shifts })
    const nameOf = (node: Node | null) => {
      const element = node instanceof Element ? node : node?.parentElement
      return element ? `${element.tagName} ${element.className}`.trim() : 'a removed node'
    }
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as unknown as LayoutShift[]) {
        const moved = entry.sources.map(
          ({ node, previousRect, currentRect }) =>
            `${nameOf(node)} from ${JSON.stringify(previousRect)} to ${JSON.stringify(currentRect)}`,
        )
        shifts.push({ value: entry.value, moved })
      }
    }).observe({ type: 'layout-shift', buffered: true })
  })
}

/**
 * Sends live data only once, as it is when the page opens. Later rows, from other tests, would push down the rows below
 * them, as intended in a live list.
 */
async function holdLive(page: Page): Promise<void> {
  const told = new Set<string>()
  page.on('request', (request) => request.isNavigationRequest() && told.clear())
  await page.route('**/api/live*', async (route) => {
    const url = route.request().url()
    if (told.has(url)) return
    told.add(url)
    const stop = new AbortController()
    const { body } = await fetch(url, { headers: await route.request().allHeaders(), signal: stop.signal })
    let text = ''
    for await (const chunk of body!.pipeThrough(new TextDecoderStream())) {
      text += chunk
      if (/^data: .*\n\n/m.test(text)) break
    }
    stop.abort()
    const { mark: _, ...now } = JSON.parse(text.match(/^data: ?(.*)$/m)![1]!)
    await route.fulfill({ contentType: 'text/event-stream', body: `data: ${JSON.stringify(now)}\n\n` })
  })
}

/** Checks that rendered elements stay in place. A failure names what moved, and where to. */
async function expectStill(page: Page, what: string): Promise<void> {
  const { total, moved } = await readShifts(page)
  expect(total, `${what}: ${moved.join('; ')}`).toBeLessThan(MAX_SHIFT)
}

async function readShifts(page: Page): Promise<{ total: number; moved: string[] }> {
  const shifts = await page.evaluate(() => (window as unknown as { shifts: Shift[] }).shifts)
  return {
    total: shifts.reduce((sum, { value }) => sum + value, 0),
    moved: shifts.flatMap(({ moved }) => moved),
  }
}

/**
 * On a busy machine, a font that arrives within the 100 ms of `font-display: optional` may find the text already laid
 * out. On a second load, the font is cached, so any movement is caused by the page.
 */
async function expectStillWithFonts(page: Page, what: string): Promise<void> {
  if ((await readShifts(page)).total >= MAX_SHIFT) await page.reload({ waitUntil: 'load' })
  await expectStill(page, what)
}

/** Runs in the page. Finds elements that overflow horizontally, and boxes without a scroll bar that cut off content. */
function cutOff(): string[] {
  const name = (element: Element) =>
    `${element.tagName} ${element.className}: ${element.textContent?.slice(0, 40)}`
  const wide = document.documentElement.scrollWidth - window.innerWidth
  const tables = [...document.querySelectorAll('main table:not(.sr-only *)')].filter(
    (table) => table.getBoundingClientRect().right > table.parentElement!.getBoundingClientRect().right + 1,
  )
  const boxes = [
    ...document.querySelectorAll('main :is(section, figure, header, nav, form, ul, ol, dl, p)'),
  ].filter((box) => {
    const { overflowX, textOverflow } = getComputedStyle(box)
    if (overflowX === 'auto' || overflowX === 'scroll' || textOverflow === 'ellipsis') return false
    return overflowX !== 'visible' && box.clientWidth > 1 && box.scrollWidth > box.clientWidth + 1
  })
  return [...(wide > 0 ? [`the page by ${wide} pixels`] : []), ...[...tables, ...boxes].map(name)]
}

/** The compressed size of each script that has been loaded, by its path. Runs in the page. */
function scriptSizes(): Record<string, number> {
  const loaded = performance.getEntriesByType('resource') as PerformanceResourceTiming[]
  const paths = loaded.map(({ name, encodedBodySize }) => [new URL(name).pathname, encodedBodySize] as const)
  return Object.fromEntries(paths.filter(([path]) => path.endsWith('.js')))
}

async function expectSmall(page: Page, path: string, max: number): Promise<void> {
  const sizes = await page.evaluate(scriptSizes)
  const total = Object.values(sizes).reduce((sum, bytes) => sum + bytes, 0)
  expect(total, `script of ${path}: ${JSON.stringify(sizes)}`).toBeLessThan(max)
  expect(total).toBeGreaterThan(max / 2)
}

type Look = { path: string; maxScriptBytes?: number }

/** Checks everything that applies to every page, in both modes and on a phone, for several pages in turn. */
async function lookAt(page: Page, looks: Look[], demo: DemoDocument): Promise<void> {
  const complaints = listen(page)
  await watchShifts(page)
  await holdLive(page)
  for (const one of looks) {
    await page.setViewportSize(DESKTOP)
    await page.emulateMedia({ colorScheme: 'light' })
    await look(page, one, demo)
    expect(complaints, one.path).toEqual([])
  }
}

async function look(
  page: Page,
  { path, maxScriptBytes = MAX_SCRIPT_BYTES }: Look,
  demo: DemoDocument,
): Promise<void> {
  const response = await page.goto(path)
  expect(response!.status(), path).toBe(200)
  await page.waitForLoadState('load')
  const policy = await response!.headerValue('content-security-policy')
  expect(policy).toMatch(/script-src [^;]*'nonce-/)
  expect(policy).not.toMatch(/script-src [^;]*'unsafe-inline'/)

  await (isLikeOthers(path) ? expectAccessibleInLight(page, path) : expectAccessible(page, path))

  const html = await page.content()
  for (const secret of [
    demo.senderToken,
    demo.accountKey,
    demo.webhookSecret,
    demo.bucket.secretAccessKey,
    demo.password,
  ]) {
    expect(html.includes(secret), `a secret in ${path}`).toBe(false)
  }
  await expectSmall(page, path, maxScriptBytes)
  // `npm run drill -- axe` has made the page narrow and wide again, which moved everything.
  if (!process.env.AXE_THOROUGH) await expectStillWithFonts(page, path)
  await expectToFit(page, path)
}

async function expectToFit(page: Page, path: string): Promise<void> {
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 844 })
    expect(await page.evaluate(cutOff), `${path} at ${width} pixels`).toEqual([])
  }
}

/** Opening a page takes longer in a new context, so each test opens several. */
const PAGES_AT_ONCE = 8
const inGroups = (paths: string[]) =>
  Array.from({ length: Math.ceil(paths.length / PAGES_AT_ONCE) }, (_, n) =>
    paths.slice(n * PAGES_AT_ONCE, (n + 1) * PAGES_AT_ONCE),
  )
const nameOf = (group: string[]) =>
  `${group[0]} to ${group.at(-1)} are small, stable, free of errors and accessible`

/** The first pages of each kind decide; they look like the others. */
const tagOf = (group: number) => (group > 0 ? ['@long'] : [])

for (const [at, group] of inGroups(PUBLIC_PAGES).entries()) {
  test(nameOf(group), { tag: tagOf(at) }, ({ page, demo }) => {
    test.slow()
    return lookAt(
      page,
      group.map((path) => ({ path })),
      demo,
    )
  })
}

for (const [at, group] of inGroups(DASHBOARD_PAGES).entries()) {
  test(nameOf(group), { tag: tagOf(at) }, async ({ owner, demo }) => {
    test.slow()
    const looks = group.map(async (path) => ({
      path: await fillIn(path, demo),
      maxScriptBytes: WITH_MORE.includes(path) ? MAX_SCRIPT_BYTES_WITH_MORE : MAX_SCRIPT_BYTES,
    }))
    await lookAt(owner, await Promise.all(looks), demo)
  })
}

test('long names do not make pages overflow', { tag: '@long' }, async ({ owner: page, demo }) => {
  const name = 'A name that is as long as names get '.repeat(2).trim()
  const sender = await api<{ id: string; token: string }>(demo, 'POST', '/senders', { name })
  const { dataStoreId } = demo
  const pipe = await api<{ id: string }>(demo, 'POST', '/pipes', {
    name,
    dataStoreId,
    source: { http: true },
  })
  await beginUpload(await tokenFor(demo.baseUrl, sender.token, pipe.id), `${name}.bin`)
  for (const path of ['files', 'pipes', 'senders', `senders/${sender.id}`, 'usage', 'settings/audit']) {
    await page.goto(`/dashboard/${path}`)
    await expect(page.getByRole('table').getByRole('row').nth(1)).toBeVisible()
    await expectToFit(page, path)
  }
  await page.goto(`/dashboard?pipeId=${pipe.id}`)
  await page.getByRole('link', { name: `${name}.bin` }).click()
  await expect(page.getByRole('heading', { name: `${name}.bin` })).toBeVisible()
  await expectToFit(page, 'a file')
  await page.goBack()
  await expect(page.getByRole('link', { name: `${name}.bin` })).toBeVisible()
  await expectToFit(page, 'the Overview')
})

test('fonts that load late do not shift the layout', async ({ owner: page }) => {
  const late: (() => Promise<void>)[] = []
  await page.route('**/*.woff2', (route) => void late.push(() => route.continue()))
  await watchShifts(page)
  for (const path of ['/', '/docs/api', '/dashboard/data-stores/new']) {
    await page.goto(path, { waitUntil: 'domcontentloaded' })
    await page.evaluate(async () => {
      while (performance.getEntriesByName('first-contentful-paint').length === 0)
        await new Promise(requestAnimationFrame)
    })
    expect(late.length).toBeGreaterThan(0)
    for (const goOn of late.splice(0)) await goOn()
    await page.evaluate(async () => {
      await document.fonts.ready
      for (let frames = 0; frames < 2; frames += 1) await new Promise(requestAnimationFrame)
    })
    await expectStill(page, path)
  }
})

/** Waits until the received content is rendered. */
const drawn = (page: Page) =>
  page.evaluate(async () => {
    for (let frames = 0; frames < 3; frames += 1) await new Promise(requestAnimationFrame)
  })

test('a page that arrives in pieces does not shift its layout', { tag: '@long' }, async ({
  page,
  baseURL,
}) => {
  const proxy = await startPiecewiseProxy(baseURL!)
  await watchShifts(page)
  for (const width of [1440, 390]) {
    await page.setViewportSize({ width, height: 900 })
    for (const path of ['/', '/docs', '/docs/api', '/login']) {
      const begun = page.goto(`${proxy.url}${path}`, { waitUntil: 'commit' })
      await proxy.next()
      await begun
      while (await proxy.next()) await drawn(page)
      await page.waitForLoadState('load')
      await drawn(page)
      await expectStill(page, `${path} at ${width} pixels`)
    }
  }
  await proxy.close()
})

test('every page of a new account is free of errors and accessible', { tag: '@long' }, async ({ page }) => {
  const complaints = listen(page)
  await page.goto('/sign-up')
  await page.getByLabel('Email').fill(`empty-${Date.now()}@example.com`)
  await page.getByLabel('Password').fill('a few words in a row')
  await page.getByRole('button', { name: 'Create account' }).click()
  await expect(page.getByText('0 of 5 done')).toBeVisible()
  for (const path of EMPTY) {
    await page.goto(path)
    await expectAccessibleInLight(page, path)
  }
  expect(complaints).toEqual([])
})
