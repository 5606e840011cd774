import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Page } from 'playwright'
import { buildKitIfNeeded } from '../../scripts/kit.ts'

/**
 * A customer's own site, on another origin: its page contains the Embed page's code, and its backend exchanges the
 * Sender token.
 */
export async function startCustomerSite(snippet: string, postToken: () => Promise<Response>) {
  let tokens = 0
  const server = createServer(async (req, res) => {
    if (req.url === '/api/upload-token' && req.method === 'POST') {
      tokens += 1
      const answer = await postToken()
      res.writeHead(answer.status, { 'Content-Type': 'application/json' }).end(await answer.text())
    } else {
      const page = `<!doctype html><html lang="en"><title>Customer</title>${snippet}</html>`
      res.writeHead(200, { 'Content-Type': 'text/html' }).end(page)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    tokensAsked: () => tokens,
    async close() {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** Serves Uppy and its plugin to the page, where no web node does. */
export async function serveUppyTo(page: Page): Promise<void> {
  buildKitIfNeeded()
  await page.route(/\/(uppy|kit)\/.*\.m?js$|\/uppy\/.*\.css$/, (route) =>
    route.fulfill({
      path: join('.kit', new URL(route.request().url()).pathname.replace('/kit/', '/')),
      headers: { 'Access-Control-Allow-Origin': '*' },
    }),
  )
}

/** Loads the backend snippet as a module, so that requests are served by the same code that customers paste. */
export async function loadTokenHandler(snippet: string): Promise<() => Promise<Response>> {
  const module = await import(`data:text/javascript,${encodeURIComponent(snippet)}`)
  return module.POST
}
