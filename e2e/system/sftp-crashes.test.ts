import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openTestDatabase } from '../../test/support/databases.ts'
import { randomOf } from '../../test/support/random.ts'
import { connectSftp } from '../../test/support/sftp-site.ts'
import { SHORT_TERMS, startUploadNode, type UploadNode } from '../../test/support/start-upload-node.ts'
import { openCuttingProxy } from '../../test/support/tcp-proxies.ts'
import type { UploadNodeOptions } from '../../test/support/upload-node.ts'
import { createSite, type Site } from '../../test/support/upload-site.ts'

const MiB = 1024 * 1024
let database: Awaited<ReturnType<typeof openTestDatabase>>
let site: Site
let balancer: Awaited<ReturnType<typeof openCuttingProxy>>
const nodes: UploadNode[] = []

beforeAll(async () => {
  database = await openTestDatabase()
  site = await createSite(database, { pipe: { source: { sftp: true } } })
  balancer = await openCuttingProxy({ cuts: 0, withinBytes: 1, random: randomOf('sftp') })
})
afterAll(async () => {
  await balancer?.close()
  await Promise.all(nodes.map((node) => node.stop()))
  await site?.close()
  await database?.close()
})

async function start(killAt?: UploadNodeOptions['killAt']): Promise<UploadNode> {
  const node = await startUploadNode({ databaseUrl: database.url, terms: SHORT_TERMS, sftp: true, killAt })
  nodes.push(node)
  return node
}

it('resumes through a TCP balancer, on another node with the same host key, when its node is killed', async () => {
  const bytes = randomBytes(12 * MiB)
  const hostKeys = new Set<string>()
  const connect = async () =>
    connectSftp(
      { port: Number(new URL(balancer.url).port), pipe: site.pipe },
      await site.token({ subject: 'partner' }),
      {
        hostVerifier: (key: Buffer) => {
          hostKeys.add(key.toString('base64'))
          return true
        },
      },
    )
  const [one, two] = [await start('part recorded'), await start()]
  balancer.leadTo(one.sftpPort!)
  const first = await connect()
  const handle = await first.open('film.mp4', 'w')
  // Bytes that the node has accepted but not yet recorded are lost with it.
  await first.writeAll(handle, bytes).catch(() => {})
  await one.ended
  balancer.leadTo(two.sftpPort!)
  const second = await connect()
  const { size } = await second.stat('film.mp4')
  expect(size).toBeGreaterThanOrEqual(5 * MiB)
  const again = await second.open('film.mp4', 'r+')
  await second.writeAll(again, bytes, size)
  await second.close(again)
  await second.end()
  const [key] = await site.bucket.objects()
  expect((await site.bucket.object(key!)).equals(bytes)).toBe(true)
  expect(hostKeys.size).toBe(1)
})
