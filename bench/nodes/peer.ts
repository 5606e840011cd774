import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { S3Store } from '@tus/s3-store'
import { Server } from '@tus/server'

/** @tus/server with @tus/s3-store, set up as in their documentation. */
const datastore = new S3Store({
  partSize: 8 * 1024 * 1024,
  s3ClientConfig: {
    bucket: 'media',
    endpoint: process.env.SINK!,
    region: 'eu-west-1',
    forcePathStyle: true,
    credentials: { accessKeyId: 'KEY', secretAccessKey: 'secret' },
  },
})
const tus = new Server({ path: '/files', datastore })
const server = createServer({ requestTimeout: 0 }, (req, res) => void tus.handle(req, res)).listen(
  0,
  '127.0.0.1',
)
server.on('listening', () =>
  process.send!({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }),
)
