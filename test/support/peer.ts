import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { S3Store } from '@tus/s3-store'
import { Server } from '@tus/server'

type Place = {
  endpoint: string
  region: string
  bucket: string
  credentials: { accessKeyId: string; secretAccessKey: string }
}

/** Runs @tus/server with @tus/s3-store in the test's own process, set up as in their documentation. */
export async function servePeer(place: Place, partSize: number) {
  const datastore = new S3Store({ partSize, s3ClientConfig: { ...place, forcePathStyle: true } })
  const tus = new Server({ path: '/files', datastore })
  const server = createServer({ requestTimeout: 0 }, (req, res) => void tus.handle(req, res))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/files`,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
