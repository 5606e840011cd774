/** @module-tag long */
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createContext, Script } from 'node:vm'
import { build } from 'esbuild'
import { publint } from 'publint'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { installPacked, type PackedKit } from '../../test/support/packed-kit.ts'

/** Tests what the packed file contains, and where it runs. */
let kit: PackedKit
beforeAll(() => {
  kit = installPacked('node')
})
afterAll(() => kit.remove())

/** The contents of files in the installed package. */
const textsOf = (files: string[]) =>
  files.map((file) => readFileSync(join(kit.folder, 'node_modules/@sluice/node', file), 'utf8'))

it('contains only its code, types, README and license', () => {
  const others = kit.files.filter((file) => !/^dist\/[\w/-]+\.(js|d\.ts)$/.test(file))
  expect(others.sort()).toEqual(['LICENSE', 'README.md', 'package.json'])
  expect(kit.files.filter((file) => /test/.test(file))).toEqual([])
  const text = textsOf(kit.files).join('\n')
  expect(text).not.toContain('sourceMappingURL')
  expect(text).not.toContain(resolve('.'))
  expect(text).not.toMatch(/\b(sk|tmp|ak|whsec)_[\w+/]{20,}/)
})

it('imports only its own files', () => {
  const imported = textsOf(kit.files.filter((file) => file.endsWith('.js'))).flatMap((text) =>
    [...text.matchAll(/(?:from|import|require)\s*\(?\s*["']([^"']+)["']/g)].map((match) => match[1]!),
  )
  expect(imported.length).toBeGreaterThan(10)
  expect(imported.filter((path) => !path.startsWith('.'))).toEqual([])
})

it('passes publint', async () => {
  const { messages } = await publint({ pkgDir: join(kit.folder, 'node_modules/@sluice/node'), strict: true })
  expect(messages).toEqual([])
})

const USE = `import { createSluice, createTokenHandler, SluiceError, webhooks, type FileEvent } from '@sluice/node'
import { toNodeHandler } from '@sluice/node/node-http'
const sluice = createSluice({ baseUrl: 'https://uploads.example.com', accountKey: 'ak_' })
export async function names(): Promise<string[]> {
  const found: string[] = []
  for await (const file of sluice.listFiles({ status: 'failed', limit: 10 })) found.push(file.filename)
  const page = await sluice.listPipes()
  return [...found, ...page.data.map(({ name }) => name), page.nextCursor ?? '']
}
export const create = () => sluice.createPipe({ name: 'Photos', dataStoreId: 'x' }, { idempotencyKey: 'one' })
export const isGone = (error: unknown) => error instanceof SluiceError && error.code === 'pipe_not_found'
export const POST = createTokenHandler({ authorize: () => ({ subject: 'user-1', maxBytes: 1e9 }) })
export const express = toNodeHandler(POST)
export const size = (event: FileEvent): number => event.data.size
export const event: Promise<FileEvent> = webhooks.unwrap('', new Headers(), 'whsec_')
// @ts-expect-error: a Pipe needs a name
sluice.createPipe({ dataStoreId: 'x' })
// @ts-expect-error: an operation without pages cannot be iterated
for await (const nothing of sluice.reportUsage()) void nothing
// @ts-expect-error: no such status
sluice.listFiles({ status: 'lost' })
`

it.each(['bundler', 'nodenext'])(
  'compiles under strict TypeScript with module resolution "%s"',
  (moduleResolution) => {
    const compilerOptions = {
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      noEmit: true,
      // Skips only TypeScript's own types.
      skipDefaultLibCheck: true,
      target: 'es2022',
      lib: ['es2023', 'dom', 'dom.iterable'],
      types: [],
      moduleResolution,
      module: moduleResolution === 'nodenext' ? 'nodenext' : 'esnext',
    }
    writeFileSync(join(kit.folder, 'use.ts'), USE)
    writeFileSync(join(kit.folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['use.ts'] }))
    const tsc = resolve('node_modules/typescript-7/bin/tsc')
    const { stdout } = spawnSync(process.execPath, [tsc], { cwd: kit.folder, encoding: 'utf8' })
    expect(stdout).toBe('')
  },
)

const RUN = `const { SLUICE_URL: baseUrl, SLUICE_ACCOUNT_KEY: accountKey } = globalThis.process?.env ?? globalThis.ENV
const sluice = createSluice({ baseUrl, accountKey })
const found = []
for await (const { id } of sluice.listPipes({ limit: 1 })) found.push(id)
const refused = await sluice.showPipe({ id: 'pipe_x' }).catch((error) => error.code)
const forged = await webhooks
  .unwrap('{}', { 'webhook-id': 'x', 'webhook-timestamp': '1', 'webhook-signature': 'v1,AAAA' }, 'whsec_AAAA')
  .catch((error) => error.reason)
const { status } = await createTokenHandler({ authorize: () => null })(new Request(baseUrl, { method: 'POST' }))
globalThis.tell(JSON.stringify([found.length > 0, refused, forged, status]))
`
const TOLD = JSON.stringify([true, 'pipe_not_found', 'mismatch', 403])
const IMPORT = "import { createSluice, createTokenHandler, webhooks } from '@sluice/node'\n"

const NODE_ENV = 'production'
/** Excludes this project's binaries: its Node hides the machine's, which may be the oldest supported version. */
const PATH = (process.env.PATH ?? '')
  .split(':')
  .filter((folder) => !folder.includes('node_modules'))
  .join(':')
const isThere = (program: string) =>
  spawnSync(program, ['--version'], { env: { NODE_ENV, PATH } }).status === 0
const RUNTIMES = [
  [process.execPath],
  ...[['node'], ['bun', 'run'], ['deno', 'run', '--allow-all']].filter(([program]) => isThere(program!)),
]

it.each(RUNTIMES.map((command) => [command]))('runs on %s', ([program, ...args]) => {
  const { baseUrl, accountKey } = inject('demo')
  writeFileSync(join(kit.folder, 'run.mjs'), `${IMPORT}globalThis.tell = console.log\n${RUN}`)
  const env = {
    NODE_ENV,
    PATH,
    HOME: kit.folder,
    SLUICE_URL: baseUrl,
    SLUICE_ACCOUNT_KEY: accountKey,
  } as const
  const { stdout, stderr } = spawnSync(program!, [...args, 'run.mjs'], {
    cwd: kit.folder,
    encoding: 'utf8',
    env,
  })
  expect([stderr, stdout.trim()]).toEqual(['', TOLD])
})

it('runs where only web APIs exist, as in edge runtimes', async () => {
  const { baseUrl, accountKey } = inject('demo')
  const { outputFiles } = await build({
    stdin: { contents: `${IMPORT}export default (async () => {${RUN}})()`, resolveDir: kit.folder },
    bundle: true,
    write: false,
    platform: 'neutral',
    format: 'iife',
    globalName: 'run',
    target: 'es2022',
  })
  let told = ''
  const web = { fetch, Request, Response, Headers, URL, URLSearchParams, crypto, atob, btoa, setTimeout }
  const more = {
    clearTimeout,
    AbortSignal,
    AbortController,
    TextEncoder,
    TextDecoder,
    ReadableStream,
    FormData,
    Blob,
  }
  const context = createContext({
    ...web,
    ...more,
    Uint8Array,
    ArrayBuffer,
    console,
    URLSearchParams,
    ENV: { SLUICE_URL: baseUrl, SLUICE_ACCOUNT_KEY: accountKey },
    tell: (text: string) => {
      told = text
    },
  })
  await new Script(`${outputFiles[0]!.text}\nrun.default`).runInContext(context)
  expect(told).toBe(TOLD)
})
