import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

/** Uppy's ready-made bundle, from the package instead of the network. */
const BUNDLE = /https:\/\/releases\.transloadit\.com\/uppy\/[^/]+\//g

/**
 * A customer's own site, of another origin: its page holds the text that the Embed page shows, and its backend
 * trades the Sender token. Nothing of the text is changed but the place of Uppy's bundle.
 */
export async function startCustomerSite(snippet: string, postToken: () => Promise<Response>) {
  let tokens = 0
  const server = createServer(async (req, res) => {
    if (req.url === '/api/upload-token' && req.method === 'POST') {
      tokens += 1
      const answer = await postToken()
      res.writeHead(answer.status, { 'Content-Type': 'application/json' }).end(await answer.text())
    } else if (req.url?.startsWith('/uppy/')) {
      const file = req.url.slice('/uppy/'.length)
      const type = file.endsWith('.css') ? 'text/css' : 'text/javascript'
      res.writeHead(200, { 'Content-Type': type }).end(readFileSync(join('node_modules/uppy/dist', file)))
    } else {
      const page = `<!doctype html><html lang="en"><title>Customer</title>${snippet.replace(BUNDLE, '/uppy/')}</html>`
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

/** The backend's text as a module: what a customer pastes is what answers. */
export async function loadTokenHandler(snippet: string): Promise<() => Promise<Response>> {
  const module = await import(`data:text/javascript,${encodeURIComponent(snippet)}`)
  return module.POST
}
