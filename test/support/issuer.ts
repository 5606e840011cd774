import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { discoveryDocument, publishedKeys } from '#lib/identity/issuer/statements.ts'
import type { Runtime } from '#lib/platform/runtime.ts'

/** Serves what a server publishes as an issuer, and makes its address the server's. */
export async function serveIssuer(runtime: Runtime): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer(async (request, response) => {
    const said = request.url!.endsWith('/jwks.json') ? await publishedKeys(runtime) : discoveryDocument(url)
    response.setHeader('content-type', 'application/json').end(JSON.stringify(said))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  runtime.config.baseUrl = url
  return {
    url,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
