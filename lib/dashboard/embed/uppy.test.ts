import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { currentUppy, serveUppy, UPPY_BUNDLES, type UppyFile } from './kit.ts'

const hash = (bytes: Uint8Array) => `sha384-${createHash('sha384').update(bytes).digest('base64')}`

it('serves every published version with bytes that match its hashes', async () => {
  expect(Object.keys(UPPY_BUNDLES)).toEqual(expect.arrayContaining(['6.0.1']))
  for (const [version, bundle] of Object.entries(UPPY_BUNDLES)) {
    const installed = JSON.parse(readFileSync(`node_modules/${bundle.package}/package.json`, 'utf8'))
    expect(installed.version).toBe(version)
    for (const [file, integrity] of Object.entries(bundle.integrity)) {
      expect(hash(new Uint8Array(await (await serveUppy('http://x', version, file)).arrayBuffer()))).toBe(
        integrity,
      )
    }
  }
})

it('uses the newest version in new snippets', () => {
  const { devDependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
  for (const file of ['uppy.min.mjs', 'uppy.min.css'] satisfies UppyFile[])
    expect(currentUppy('https://sluice.test', file)).toEqual({
      url: `https://sluice.test/uppy/${devDependencies.uppy}/${file}`,
      integrity: UPPY_BUNDLES[devDependencies.uppy]!.integrity[file],
    })
})

it('serves nothing else from the package or the disk', async () => {
  for (const [version, file] of [
    ['6.0.0', 'uppy.min.mjs'],
    ['6.0.1', 'README.md'],
    ['6.0.1', '../package.json'],
    ['constructor', 'uppy.min.mjs'],
    ['6.0.1', 'toString'],
  ] as const) {
    const { status, headers } = await serveUppy('http://x', version, file)
    expect([status, headers.get('cache-control')]).toEqual([404, 'no-store'])
  }
})
