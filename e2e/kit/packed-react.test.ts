/** @module-tag long */
import { readFileSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { publint } from 'publint'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { installPacked, type PackedKit } from '../../test/support/packed-kit.ts'

/** Tests what the packed file contains, and how many bytes of it a page loads. */
const MAX_CORE_GZIP_BYTES = 8_000
const MAX_GZIP_BYTES = 12_000

let kit: PackedKit
beforeAll(() => {
  kit = installPacked('react')
  symlinkSync(resolve('node_modules/react'), join(kit.folder, 'node_modules/react'))
})
afterAll(() => kit.remove())

const textOf = (file: string) => readFileSync(join(kit.folder, 'node_modules/@sluice/react', file), 'utf8')

it('contains only its code, types and styles', () => {
  const others = kit.files.filter((file) => !/^dist\/[\w-]+(\/[\w-]+)?\.d\.ts$/.test(file))
  expect(others.sort()).toEqual([
    ...['LICENSE', 'README.md', 'dist/index.js', 'dist/styles.css', 'dist/uploads.js'],
    ...['de', 'es', 'fr', 'ja', 'pt'].map((language) => `dist/words-${language}.js`),
    'package.json',
  ])
  const text = kit.files.map(textOf).join('\n')
  expect(text).not.toContain('sourceMappingURL')
  expect(text).not.toContain(resolve('.'))
  expect(text).not.toMatch(/\b(sk|tmp|ak|whsec)_[\w+/]{20,}/)
})

const importsOf = (file: string) => {
  const imports = textOf(file).matchAll(/^(?:im|ex)port [^;]*? from "([^"]+)"/gm)
  return [...new Set([...imports].map(([, name]) => name))].sort()
}

it('imports only React', () => {
  expect(importsOf('dist/index.js')).toEqual(['./uploads.js', 'react', 'react/jsx-runtime'])
  expect(importsOf('dist/uploads.js')).toEqual([])
  expect(textOf('dist/index.js')).toMatch(/^'use client'/)
})

it('adds less than 12 kB to a page, of which uploads that continue after a reload are less than 8 kB', async () => {
  expect(gzipSync(textOf('dist/uploads.js')).length).toBeLessThan(MAX_CORE_GZIP_BYTES)
  const { outputFiles } = await build({
    stdin: { contents: "export * from '@sluice/react'", resolveDir: kit.folder },
    bundle: true,
    minify: true,
    format: 'esm',
    external: ['react', 'react/jsx-runtime', './words-*'],
    write: false,
  })
  expect(gzipSync(outputFiles[0]!.contents).length).toBeLessThan(MAX_GZIP_BYTES)
})

it('can be loaded for server-side rendering', async () => {
  const { UploadButton } = await import(join(kit.folder, 'node_modules/@sluice/react/dist/index.js'))
  const { renderToString } = await import('react-dom/server')
  const { createElement } = await import('react')
  expect(renderToString(createElement(UploadButton))).toContain('Choose files')
})

it('passes publint', async () => {
  const { messages } = await publint({ pkgDir: join(kit.folder, 'node_modules/@sluice/react'), strict: true })
  expect(messages).toEqual([])
})
