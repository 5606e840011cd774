import { sql } from 'drizzle-orm'
import { type DatabaseHandle, rows } from '#lib/platform/db/database.ts'
import type { Site } from './upload-site.ts'

type Stored = {
  id: string
  status: string
  filename: string
  filetype: string | null
  protocol: string
  bytes: number
}

/** What the tests of SFTP and FTP need of a customer and a node. */
export function folderSite<Node extends { port: number; close(): Promise<unknown> }>(
  database: DatabaseHandle,
  site: Site,
  node: Node,
) {
  return {
    ...site,
    node,
    port: node.port,
    /** The Pipe's files, newest first. */
    files: () =>
      rows<Stored>(
        database.db,
        sql`select id, status, filename, filetype, protocol, offset_bytes as bytes from files where pipe_id = ${site.pipe.id} order by id desc`,
      ),
    async objectOf(fileId: string): Promise<Buffer> {
      const key = (await site.bucket.objects()).find((one) => one.includes(fileId))
      return site.bucket.object(key!)
    },
    async close() {
      await node.close()
      await site.close()
    },
  }
}
