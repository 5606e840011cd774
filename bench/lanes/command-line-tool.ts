import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Token } from './page.ts'

/** What the command-line tool needs to send a file. Its token comes from here, not from a server's API. */
export type Sending = {
  token: Token
  pipeId: string
  senderToken: string
  path: string
  configFolder: string
}

/** Sends a file with the command-line tool, and returns the seconds it took. `disturb` runs meanwhile. */
export async function sendWithCli(
  { token, pipeId, senderToken, path, configFolder }: Sending,
  connections: number,
  disturb?: () => Promise<void>,
): Promise<number> {
  const api = createServer((_, res) =>
    res.writeHead(201, { 'Content-Type': 'application/json' }).end(JSON.stringify(token)),
  ).listen(0, '127.0.0.1')
  await once(api, 'listening')
  const env = {
    ...process.env,
    SLUICE_CONFIG_DIR: configFolder,
    SLUICE_URL: `http://127.0.0.1:${(api.address() as AddressInfo).port}`,
    SLUICE_PIPE_ID: pipeId,
    SLUICE_SENDER_TOKEN: senderToken,
  }
  const startedMs = performance.now()
  const args = ['packages/cli/src/main.ts', 'upload', path, '--connections', String(connections)]
  const tool = spawn(process.execPath, args, { env, stdio: 'inherit' })
  const [[code]] = await Promise.all([once(tool, 'close'), disturb?.()])
  api.close()
  if (code !== 0) throw new Error(`sluice upload ended with ${code}`)
  return (performance.now() - startedMs) / 1000
}
