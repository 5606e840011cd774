import { hkdfSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { Server } from 'node:http'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Runtime } from '../lib/platform/runtime.ts'
import { captureConsole } from './capture-console.ts'
import type { Handler } from './http/front-door.ts'
import { upgradesForNext } from './http/open-server.ts'

const FOLDER = join(import.meta.dirname, '..')
const BUILD = join(FOLDER, '.next')

/** Next has many modules and takes a lot of memory, so only nodes that serve pages load it. */
export async function openPages({ config, log }: Runtime, server: Server, dev: boolean): Promise<Handler> {
  if (!dev) captureConsole(log)
  // The build contains a key, but it is the same for everyone who has the build.
  // biome-ignore lint/style/noProcessEnv: the only way to pass it to Next
  process.env.NEXT_SERVER_ACTIONS_ENCRYPTION_KEY ??= keyOfActions(config.authSecret)
  const next = dev ? (await import('next')).default : loadBuilt()
  const httpServer = upgradesForNext(server, dev)
  const app = next({ dev, dir: FOLDER, hostname: 'localhost', port: config.port, httpServer })
  await app.prepare()
  return app.getRequestHandler()
}

/**
 * The key that encrypts data that pages send to a browser and get back. All nodes with the same AUTH_SECRET derive the
 * same key.
 */
function keyOfActions(authSecret: string): string {
  return Buffer.from(hkdfSync('sha256', authSecret, '', 'server actions of Next', 32)).toString('base64')
}

/**
 * Loads the copy of Next that the build has placed beside the pages, and gives it the build's settings. The server that
 * Next generates does the same.
 */
function loadBuilt(): typeof import('next').default {
  const { config } = JSON.parse(readFileSync(join(BUILD, 'required-server-files.json'), 'utf8')) as {
    config: object
  }
  // biome-ignore lint/style/noProcessEnv: the only way to pass it to Next
  process.env.__NEXT_PRIVATE_STANDALONE_CONFIG = JSON.stringify(config)
  return createRequire(join(BUILD, 'server/package.json'))('next')
}
