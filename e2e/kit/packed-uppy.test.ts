import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { publint } from 'publint'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { installPacked, type PackedKit } from '../../test/support/packed-kit.ts'

/** Tests what the packed plugin contains. */
const MAX_GZIP_BYTES = 23_000

let kit: PackedKit
beforeAll(() => {
  kit = installPacked('uppy')
})
afterAll(() => kit.remove())

const textOf = (file: string) => readFileSync(join(kit.folder, 'node_modules/@sluice/uppy', file), 'utf8')

it('contains one module of less than 23 kB that imports nothing, with its types and licenses', () => {
  const others = kit.files.filter((file) => !file.endsWith('.d.ts'))
  expect(others.sort()).toEqual(['LICENSE', 'README.md', 'dist/index.js', 'package.json'])
  const text = textOf('dist/index.js')
  expect(text).not.toMatch(/\bfrom\s*["']|\bimport\s*["'(]/)
  expect(gzipSync(text).length).toBeLessThan(MAX_GZIP_BYTES)
})

it('passes publint', async () => {
  const { messages } = await publint({ pkgDir: join(kit.folder, 'node_modules/@sluice/uppy'), strict: true })
  expect(messages).toEqual([])
})
