import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Runs s3rver in its own process, which reports its port to the parent and exits with it. Its streams emit errors that
 * nothing handles, which would otherwise end the test process as well.
 */
const S3rver = createRequire(import.meta.url)('s3rver') as new (
  options: object,
) => { run(): Promise<AddressInfo> }

process.on('uncaughtException', () => {})
const directory = mkdtempSync(join(tmpdir(), 's3rver-'))
process.once('disconnect', () => {
  rmSync(directory, { recursive: true, force: true })
  process.exit()
})
const configureBuckets = [{ name: process.argv[2], configs: [] }]
const server = new S3rver({ port: 0, address: '127.0.0.1', silent: true, directory, configureBuckets })
const { port } = await server.run()
process.send!(port)
