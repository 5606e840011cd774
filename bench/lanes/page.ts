import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { build } from 'esbuild'
import { chromium } from 'playwright'
import { findChromium } from '../../test/support/chromium.ts'

export type Token = { token: string; uploadUrl: string; expiresAt: string }

/** Uploads that continue after a reload, and one with Uppy, straight to a bucket. */
const SCRIPT = `import { createUploads } from './packages/react/src/uploads.ts'
import Uppy from '@uppy/core'
import AwsS3 from '@uppy/aws-s3'
const file = () => document.querySelector('input').files[0]
globalThis.begin = (token, connections) => {
  globalThis.state = 'uploading'
  const end = (state) => () => (globalThis.state = state)
  const getToken = async () => token
  globalThis.uploads = createUploads({ getToken, connections, onDone: end('done'), onFailed: end('failed') })
  uploads.open()
}
globalThis.add = () => uploads.add([file()])
globalThis.sendWithUppy = async (s3Endpoint) => {
  const getCredentials = async () => ({
    credentials: { accessKeyId: 'KEY', secretAccessKey: 'secret', sessionToken: 'none' },
    bucket: 'media',
    region: 'eu-west-1',
  })
  const uppy = new Uppy().use(AwsS3, { shouldUseMultipart: true, s3Endpoint, region: 'eu-west-1', getCredentials })
  uppy.addFile({ name: file().name, data: file() })
  const { failed } = await uppy.upload()
  if (failed.length > 0) throw new Error(String(failed[0].error))
}`

/** A page in Chromium that sends a file in several ways, each timed in seconds. */
export async function openPage(path: string) {
  const { outputFiles } = await build({
    stdin: { contents: SCRIPT, resolveDir: process.cwd() },
    bundle: true,
    format: 'esm',
    write: false,
  })
  const html = `<!doctype html><input type="file"><script type="module">${outputFiles[0]!.text}</script>`
  const site = createServer((_, res) => res.writeHead(200, { 'Content-Type': 'text/html' }).end(html))
  await once(site.listen(0, '127.0.0.1'), 'listening')
  const options = await findChromium()
  // The bucket has no CORS rules.
  const browser = await chromium.launch({ ...options, args: [...options.args!, '--disable-web-security'] })
  const page = await browser.newPage()
  const evaluate = (code: string) => page.evaluate(code)
  const open = async () => {
    await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}`)
    await page.setInputFiles('input', path)
  }
  const seconds = async (run: () => Promise<unknown>) => {
    const startedMs = performance.now()
    await run()
    return (performance.now() - startedMs) / 1000
  }
  const begin = (token: Token, connections: number) =>
    evaluate(`begin(${JSON.stringify(token)}, ${connections})`)
  const isDone = async () => {
    await page.waitForFunction('state !== "uploading"', undefined, { timeout: 0 })
    if ((await evaluate('state')) !== 'done') throw new Error('The upload in the page failed.')
  }
  return {
    /** With the kit. `disturb` runs meanwhile; the page may be reloaded with `reload`. */
    async send(token: Token, connections: number, disturb?: (reload: () => Promise<void>) => Promise<void>) {
      await open()
      await begin(token, connections)
      return seconds(async () => {
        await evaluate('add()')
        await disturb?.(async () => {
          await page.reload()
          await begin(token, connections)
        })
        await isDone()
      })
    },
    async sendWithUppy(bucketUrl: string) {
      await open()
      return seconds(() => evaluate(`sendWithUppy(${JSON.stringify(bucketUrl)})`))
    },
    async close() {
      await browser.close()
      site.close()
    },
  }
}
