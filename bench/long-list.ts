import { chromium } from 'playwright'
import { findChromium } from '../test/support/chromium.ts'
import { startCustomerSite } from '../test/support/customer-site.ts'
import { pageWith } from '../test/support/kit-page.ts'

/**
 * Measures how a page responds when thousands of files are dropped onto the @sluice/react dropzone: its tasks of 50 ms
 * or more.
 */
export async function dropFiles(count: number) {
  const page = await pageWith('<UploadDropzone />')
  const site = await startCustomerSite(page, () => new Promise(() => {}))
  const browser = await chromium.launch(await findChromium())
  try {
    const tab = await browser.newPage({ viewport: { width: 1280, height: 800 } })
    await tab.goto(site.url)
    const dropped = await tab.evaluate(drop, count)
    const rows = await tab.getByRole('listitem').count()
    await tab.reload()
    return { ...dropped, rows, reloaded: await tab.evaluate(waitForAll, count) }
  } finally {
    await browser.close()
    await site.close()
  }
}

type Felt = { seconds: number; longestMs: number }

/**
 * Drops files and waits until all are stored in the browser. It runs in the page, so nothing
 * from this module is available.
 */
async function drop(count: number): Promise<Felt> {
  const files = Array.from({ length: count }, (_, n) => new File(['x'], `${n}.txt`))
  await new Promise((resolve) => setTimeout(resolve, 500))
  const tasks: number[] = []
  const note = (list: PerformanceObserverEntryList) => {
    for (const { duration } of list.getEntries()) tasks.push(duration)
  }
  new PerformanceObserver(note).observe({ type: 'longtask' })
  const startedMs = performance.now()
  const event = new Event('drop', { bubbles: true, cancelable: true })
  document
    .querySelector('.sluice-dropzone')!
    .dispatchEvent(Object.assign(event, { dataTransfer: { items: [], files } }))
  const kept = () =>
    new Promise<number>((resolve) => {
      const opening = indexedDB.open('sluice-uploads', 1)
      opening.onsuccess = () => {
        const asking = opening.result.transaction('files').objectStore('files').count()
        asking.onsuccess = () => {
          opening.result.close()
          resolve(asking.result)
        }
      }
    })
  while ((await kept()) < count) await new Promise((resolve) => setTimeout(resolve, 250))
  return { seconds: (performance.now() - startedMs) / 1000, longestMs: Math.max(0, ...tasks) }
}

/** Waits until the list from an earlier visit is shown again. */
async function waitForAll(count: number): Promise<Felt> {
  const tasks: number[] = []
  const note = (list: PerformanceObserverEntryList) => {
    for (const { duration } of list.getEntries()) tasks.push(duration)
  }
  new PerformanceObserver(note).observe({ type: 'longtask', buffered: true })
  const startedMs = performance.now()
  const shown = () => {
    const row = document.querySelector('[role=listitem], li')
    return Number(row?.getAttribute('aria-setsize') ?? document.querySelectorAll('li').length)
  }
  while (shown() < count) await new Promise((resolve) => setTimeout(resolve, 250))
  return { seconds: (performance.now() - startedMs) / 1000, longestMs: Math.max(0, ...tasks) }
}
