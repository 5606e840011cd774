/** @module-tag long */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { publint } from 'publint'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { installPacked, type PackedKit } from '../../test/support/packed-kit.ts'

/** Loaded by pages in these languages. */
const LANGUAGES = ['de', 'es', 'fr', 'ja', 'pt'].map((language) => `words-${language}.js`)

/** Tests what the packages of a single module contain: the web component and the plugin for Uppy. */
describe.each([
  { name: 'uploader', maxGzipBytes: 13_500, beside: LANGUAGES },
  { name: 'uppy', maxGzipBytes: 7_000, beside: [] },
])('@sluice/$name', ({ name, maxGzipBytes, beside }) => {
  let kit: PackedKit
  beforeAll(() => {
    kit = installPacked(name)
  })
  afterAll(() => kit.remove())
  const installed = (...path: string[]) => join(kit.folder, 'node_modules/@sluice', name, ...path)

  it(`is one module of less than ${maxGzipBytes} bytes that imports nothing but a language, with its types`, () => {
    const others = kit.files.filter((file) => !file.endsWith('.d.ts'))
    const modules = ['index.js', ...beside].map((file) => `dist/${file}`)
    expect(others.sort()).toEqual(['LICENSE', 'README.md', ...modules, 'package.json'])
    const text = readFileSync(installed('dist/index.js'), 'utf8')
    expect(text).not.toMatch(/\bfrom\s*["']|\bimport\s*["']/)
    const loaded = [...text.matchAll(/\bimport\("\.\/([^"]+)"\)/g)].map(([, file]) => file)
    expect(loaded.sort()).toEqual(beside)
    expect(gzipSync(text).length).toBeLessThan(maxGzipBytes)
  })

  it('can be loaded on a server, and passes publint', async () => {
    await import(installed('dist/index.js'))
    const { messages } = await publint({ pkgDir: installed(), strict: true })
    expect(messages).toEqual([])
  })
})
