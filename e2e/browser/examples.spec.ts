import { execFileSync } from 'node:child_process'
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
import type { DemoDocument } from '#lib/dashboard/demo/ensure-demo.ts'
import { expect, test } from '../../test/support/browser.ts'
import {
  AT_HAND,
  commandsOf,
  folderOf,
  makePipe,
  openLine,
  startExample,
  uploadThroughCut,
} from '../../test/support/examples.ts'
import { removeWithThisProcess } from '../../test/support/until-exit.ts'

/** Starts each example with the command in its README and the packages that the server serves. */
const MAX_LINES_OF_NEXT = 15
/**
 * Packages that are linked from this repository, because installing them from npm takes minutes and yields the same
 * packages. `npm run drill -- examples` installs them.
 */
const FROM_HERE = ['next', 'react', 'react-dom', 'hono', '@hono/node-server', 'express']
const PROGRAMS = ['next', 'vite', 'esbuild']

test.describe.configure({ mode: 'default' })

let shared: Awaited<ReturnType<typeof openLine>> & { folder: string; remove(): void }
test.beforeAll(async () => {
  const demo: DemoDocument = JSON.parse(readFileSync(join(process.env.SLUICE_DATA!, 'demo.json'), 'utf8'))
  const folder = mkdtempSync(join(tmpdir(), 'sluice-examples-'))
  const remove = removeWithThisProcess(folder)
  await installInto(folder, demo.baseUrl)
  shared = { ...(await openLine(demo)), folder, remove }
})
test.afterAll(async () => {
  await shared.close()
  shared.remove()
})

async function installInto(folder: string, baseUrl: string): Promise<void> {
  const { packages } = (await (await fetch(`${baseUrl}/kit/`)).json()) as {
    packages: { name: string; url: string }[]
  }
  const isWanted = (name: string) => name.startsWith('@sluice/') && name !== '@sluice/cli'
  const urls = packages.filter(({ name }) => isWanted(name)).map(({ url }) => url)
  writeFileSync(join(folder, 'package.json'), '{"private": true}\n')
  // Otherwise, npm would also install Uppy, for its plugin.
  execFileSync('npm', ['install', ...urls, '--legacy-peer-deps', '--no-audit', '--no-fund', '--silent'], {
    cwd: folder,
  })
  for (const name of ['@hono', '.bin']) mkdirSync(join(folder, 'node_modules', name))
  for (const name of [...FROM_HERE, ...PROGRAMS.map((program) => join('.bin', program))])
    symlinkSync(resolve('node_modules', name), join(folder, 'node_modules', name))
}

for (const example of AT_HAND) {
  test(`the ${example} example uploads a file despite a lost connection and a reload`, {
    tag: '@long',
  }, async ({ demo }) => {
    test.setTimeout(300_000)
    const folder = join(shared.folder, example)
    cpSync(folderOf(example), folder, { recursive: true })
    const pipeId = await makePipe(demo, example)
    const { start } = commandsOf(example, demo, pipeId)
    // Next's other bundler does not follow symbolic links out of the project.
    const command = example === 'next' ? `${start} --webpack` : start
    const { PATH, HOME } = process.env
    const env = { PATH, HOME, NODE_ENV: 'development' as const, NEXT_TELEMETRY_DISABLED: '1' }
    const app = await startExample(command, folder, env)
    try {
      await uploadThroughCut(shared, app.url, demo, pipeId, example)
    } finally {
      app.stop()
    }
  })
}

test('the Next.js example is under 15 lines', { tag: '@long' }, () => {
  const own = readdirSync(folderOf('next'), { recursive: true, encoding: 'utf8' })
  const lines = own
    .filter((file) => /\.jsx?$/.test(file))
    .flatMap((file) =>
      readFileSync(join(folderOf('next'), file), 'utf8')
        .trim()
        .split('\n'),
    )
  expect(lines.length).toBeLessThan(MAX_LINES_OF_NEXT)
})
