import { join } from 'node:path'
import { build } from 'esbuild'
import { chromium } from 'playwright'
import { findChromium } from '../../test/support/chromium.ts'

/** Takes the pictures for the docs: the @sluice/react dropzone with an upload in each state, in both color modes. */
const PAGE = `import { createRoot } from 'react-dom/client'
import { UploadDropzone } from './packages/react/src/index.ts'
import './packages/react/src/styles.css'
const MB = 1e6
const states = [
  ['queued', 'garden.jpg', 4.2 * MB, 0],
  ['uploading', 'holiday.mov', 812 * MB, 0.42],
  ['waiting', 'interview.wav', 96 * MB, 0.71, 'Waiting for the network'],
  ['paused', 'archive.zip', 2300 * MB, 0.18],
  ['failed', 'notes.exe', 1.4 * MB, 0, 'This type of file is not allowed'],
  ['done', 'contract.pdf', 0.8 * MB, 1],
  ['missing', 'film.mkv', 7400 * MB, 0],
]
const uploads = states.map(([state, name, size, share, reason]) =>
  ({ id: name, name, size, type: '', state, sentBytes: size * share, reason }))
const act = () => {}
const control = { uploads, busy: true, add: act, pause: act, resume: act, retry: act, cancel: act }
createRoot(document.getElementById('root')).render(<UploadDropzone control={control} />)`

const { outputFiles } = await build({
  stdin: { contents: PAGE, loader: 'jsx', resolveDir: process.cwd() },
  bundle: true,
  format: 'esm',
  jsx: 'automatic',
  outdir: 'out',
  define: { 'process.env.NODE_ENV': '"production"' },
  write: false,
})
const [script, style] = ['.js', '.css'].map((end) => outputFiles.find(({ path }) => path.endsWith(end))!.text)
const browser = await chromium.launch(await findChromium())
for (const colorScheme of ['light', 'dark'] as const) {
  const page = await browser.newPage({ colorScheme, viewport: { width: 640, height: 900 } })
  await page.setContent(`<!doctype html><style>:root { color-scheme: light dark; font-family: sans-serif }
main { padding: 16px } ${style}</style><main id="root"></main><script type="module">${script}</script>`)
  await page.getByText('holiday.mov', { exact: true }).waitFor()
  const path = join('public/docs-pictures', `kit-${colorScheme}.png`)
  await page.locator('main').screenshot({ path })
}
await browser.close()
