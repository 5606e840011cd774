import { readFileSync, writeFileSync } from 'node:fs'
import { chromium } from 'playwright'
import { findChromium } from '../test/support/chromium.ts'

/**
 * `node scripts/share-pictures.ts`: writes the picture for shared links, and the icon for a phone's home screen, into
 * public.
 */
const mark = readFileSync('public/favicon.svg', 'utf8')
const font = readFileSync('app/fonts/hanken-grotesk.woff2').toString('base64')

const ICON = `<style>* { margin: 0 } svg { display: block; width: 180px } rect { rx: 0 }</style>${mark}`

const SHARE = `<style>
  @font-face { font-family: Hanken; src: url(data:font/woff2;base64,${font}); font-weight: 100 900 }
  * { margin: 0; box-sizing: border-box }
  body { width: 1200px; height: 630px; padding: 96px; background: #f9fbfb; color: #10191d; font-family: Hanken }
  header { display: flex; align-items: center; gap: 28px; font-size: 56px; font-weight: 600; letter-spacing: -0.03em }
  svg { width: 88px }
  h1 { margin-top: 72px; font-size: 76px; line-height: 1.1; font-weight: 600; letter-spacing: -0.035em }
  p { margin-top: 36px; font-size: 34px; line-height: 1.4; color: #45545b }
</style>
<header>${mark}Sluice</header>
<h1>Uploads that pick up where they left off.</h1>
<p>Resumable uploads, straight into your own bucket.</p>`

const browser = await chromium.launch(await findChromium())
try {
  for (const [name, html, width, height] of [
    ['apple-touch-icon', ICON, 180, 180],
    ['share', SHARE, 1200, 630],
  ] as const) {
    const page = await browser.newPage({ viewport: { width, height } })
    await page.setContent(html)
    await page.evaluate(() => document.fonts.ready)
    writeFileSync(`public/${name}.png`, await page.screenshot())
  }
} finally {
  await browser.close()
}
