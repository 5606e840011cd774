import { execFileSync, spawn } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { chromium } from 'playwright'
import type { DemoDocument } from '#lib/dashboard/demo/demo-document.ts'
import { api, expect, test } from '../../test/support/browser.ts'
import { findChromium } from '../../test/support/chromium.ts'
import { openHeldLine } from '../../test/support/held-line.ts'
import { endWithThisProcess, removeWithThisProcess } from '../../test/support/until-exit.ts'

/** From an empty folder to a working upload button, with the packages that the server gives out. */
const MIB = 1024 * 1024
const MOST_LINES = 15
const EXAMPLE = 'examples/next'

async function installInto(folder: string, baseUrl: string): Promise<void> {
  const { packages } = (await (await fetch(`${baseUrl}/kit/`)).json()) as {
    packages: { name: string; url: string }[]
  }
  const urls = packages.filter(({ name }) => name !== '@sluice/cli').map(({ url }) => url)
  writeFileSync(join(folder, 'package.json'), '{"private": true}\n')
  const alone = ['--legacy-peer-deps', '--no-audit', '--no-fund', '--silent']
  execFileSync('npm', ['install', ...urls, ...alone], { cwd: folder })
  // From npm they would take minutes, and be the same.
  for (const name of ['next', 'react', 'react-dom'])
    symlinkSync(resolve('node_modules', name), join(folder, 'node_modules', name))
}

/** On a port of the system's choice, as soon as it says so. */
async function startNext(folder: string, demo: DemoDocument, pipeId: string) {
  const { PATH, HOME } = process.env
  const SLUICE = {
    SLUICE_URL: demo.baseUrl,
    SLUICE_SENDER_TOKEN: demo.senderToken,
    SLUICE_PIPE_ID: pipeId,
  }
  const env = { PATH, HOME, NODE_ENV: 'development' as const, NEXT_TELEMETRY_DISABLED: '1', ...SLUICE }
  // Its other bundler follows no link out of the project.
  const args = [
    'node_modules/next/dist/bin/next',
    'dev',
    '--webpack',
    '--port',
    '0',
    '--hostname',
    '127.0.0.1',
  ]
  const child = spawn(process.execPath, args, { cwd: folder, env })
  endWithThisProcess(child, 'SIGTERM')
  let said = ''
  child.stderr.on('data', (chunk) => (said += chunk))
  for await (const line of createInterface(child.stdout)) {
    said += `${line}\n`
    const [url] = line.match(/http:\/\/127\.0\.0\.1:\d+/) ?? []
    if (url) return { url, stop: () => child.kill('SIGTERM') }
  }
  throw new Error(said)
}

test('an app of Next with under 15 lines of its own uploads, and outlasts a cut', async ({ demo }) => {
  test.setTimeout(300_000)
  const folder = mkdtempSync(join(tmpdir(), 'sluice-next-'))
  const remove = removeWithThisProcess(folder)
  mkdirSync(join(folder, 'app'))
  cpSync(EXAMPLE, folder, { recursive: true })
  const own = readdirSync(EXAMPLE, { recursive: true, encoding: 'utf8' }).filter((file) =>
    /\.jsx?$/.test(file),
  )
  const lines = own.flatMap((file) => readFileSync(join(EXAMPLE, file), 'utf8').trim().split('\n'))
  expect(lines.length).toBeLessThan(MOST_LINES)

  await installInto(folder, demo.baseUrl)
  const fields = { name: 'Next', dataStoreId: demo.dataStoreId, source: { http: true } }
  const pipe = await api<{ id: string }>(demo, 'POST', '/pipes', fields)
  const next = await startNext(folder, demo, pipe.id)
  const sluice = new URL(demo.uploadUrl)
  const line = await openHeldLine(sluice)
  const options = await findChromium()
  const rule = `--host-resolver-rules=MAP ${sluice.host} 127.0.0.1:${line.port}`
  const browser = await chromium.launch({ ...options, args: [...(options.args ?? []), rule] })
  const page = await browser.newPage()
  await page.goto(next.url, { timeout: 120_000 })

  const held = line.holdAfter(2 * MIB)
  const film = { name: 'film.bin', mimeType: 'video/mp4', buffer: Buffer.alloc(8 * MIB, 'film') }
  await page.getByLabel('Choose files').setInputFiles(film)
  await held
  line.flow()
  line.cut()
  await expect(page.getByRole('listitem')).toContainText('Uploaded', { timeout: 60_000 })
  const { data } = await api<{ data: object[] }>(demo, 'GET', `/files?pipeId=${pipe.id}`)
  expect(data).toMatchObject([{ filename: 'film.bin', size: 8 * MIB, status: 'transferred', resumeCount: 1 }])

  await browser.close()
  await line.close()
  next.stop()
  remove()
})
