import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { inject } from 'vitest'
import { createSluice } from '../../packages/node/src/client.ts'
import { installPacked, type PackedKit, runCli } from '../../test/support/packed-kit.ts'
import { temporaryFolder } from '../../test/support/sluice.ts'
import { OCTETS, tusWith } from '../../test/support/tus.ts'
import { endWithThisProcess } from '../../test/support/until-exit.ts'

/**
 * Installs the command-line tool, signs it in to a Sluice server, and creates a Pipe. Test files run isolated, so each
 * has its own installation and Pipe.
 */
export const demo = inject('demo')
const { baseUrl, accountKey, senderToken } = demo
export const sluice = createSluice({ baseUrl, accountKey, senderToken })
export const home = temporaryFolder()
export let kit: PackedKit
export let pipeId: string

/** For `beforeAll`. */
export async function installCli(): Promise<void> {
  kit = installPacked('cli')
  const fields = { name: 'Command line', dataStoreId: demo.dataStoreId, source: { http: true } }
  pipeId = (await sluice.createPipe(fields)).id
  await run(['login', '--url', baseUrl], { input: accountKey })
}

/** For `afterAll`. */
export function removeCli(): void {
  kit.remove()
  home[Symbol.dispose]()
}

export const program = () => join(kit.folder, 'node_modules/@sluice/cli/dist/sluice.js')
const env = (more: Record<string, string> = {}) =>
  ({ PATH: process.env.PATH, HOME: home.path, SLUICE_CONFIG_DIR: join(home.path, 'kept'), ...more }) as never

/** Runs a command to completion. */
export const run = (args: string[], { input = '', more = {} } = {}) =>
  runCli(program(), args, { input, env: env(more) })

/** Starts a command that the test kills. */
export function start(
  args: string[],
  more?: Record<string, string>,
): { child: ChildProcess; said(): string; kill(): Promise<void> } {
  const child = spawn(process.execPath, [program(), ...args], {
    env: env(more),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  endWithThisProcess(child)
  let text = ''
  for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (chunk) => (text += chunk))
  return {
    child,
    said: () => text,
    async kill() {
      const gone = once(child, 'exit')
      child.kill('SIGKILL')
      await gone
    },
  }
}

/** Uploads a file of one byte, and returns its id. */
export async function sendFile(to = pipeId): Promise<string> {
  const { token, uploadUrl } = await sluice.issueToken({ pipeId: to })
  const { headers } = await tusWith(token, uploadUrl).post(
    { 'Upload-Length': 1, 'Content-Type': OCTETS },
    'x',
  )
  return headers.location!.split('/').at(-1)!
}
