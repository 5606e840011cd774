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

/** Next takes many modules and much memory, so only the nodes that serve pages load it. */
export async function openPages({ config, log }: Runtime, server: Server, dev: boolean): Promise<Handler> {
  if (!dev) captureConsole(log)
  // The build's own key is the same for everybody who has the build.
  // biome-ignore lint/style/noProcessEnv: the one way to tell Next
  process.env.NEXT_SERVER_ACTIONS_ENCRYPTION_KEY ??= keyOfActions(config.authSecret)
  const next = dev ? (await import('next')).default : loadBuilt()
  const httpServer = upgradesForNext(server, dev)
  const app = next({ dev, dir: FOLDER, hostname: 'localhost', port: config.port, httpServer })
  await app.prepare()
  return app.getRequestHandler()
}

/** What pages hand to a browser for it to bring back; all nodes with one AUTH_SECRET read it. */
function keyOfActions(authSecret: string): string {
  return Buffer.from(hkdfSync('sha256', authSecret, '', 'server actions of Next', 32)).toString('base64')
}

/** What the build has put beside the pages, with the settings of the build, as the server of Next's own that it makes begins. */
function loadBuilt(): typeof import('next').default {
  const { config } = JSON.parse(readFileSync(join(BUILD, 'required-server-files.json'), 'utf8')) as {
    config: object
  }
  // biome-ignore lint/style/noProcessEnv: the one way to tell Next
  process.env.__NEXT_PRIVATE_STANDALONE_CONFIG = JSON.stringify(config)
  return createRequire(join(BUILD, 'server/package.json'))('next')
}
