import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { sql } from 'drizzle-orm'
import { createImports } from '../lib/imports/create-imports.ts'
import { importsInput } from '../lib/imports/import.ts'
import { type DatabaseHandle, rows } from '../lib/platform/db/database.ts'
import { systemClock } from '../lib/platform/kernel/clock.ts'
import { hashSecret, newSecret } from '../lib/platform/kernel/ids.ts'
import { parseInput } from '../lib/platform/kernel/parse-input.ts'
import { testRuntime } from '../test/support/runtime.ts'
import type { Finding } from './cases.ts'
import { cpuPerGiB, inTurns } from './in-turns.ts'
import { MiB, upload } from './load.ts'
import { startSluiceNode } from './sluice-site.ts'

const GiB = 1024 * MiB

/** Compares an import, fetched by a worker, with a PATCH from a client. One process handles both in turn. */
export async function benchImports(postgresUrl: string, sinkUrl: string): Promise<Finding[]> {
  const site = await startSluiceNode(postgresUrl, sinkUrl, { ROLES: 'upload,worker' })
  const source = await openEndlessSource()
  try {
    const begin = await importing(site.database, source)
    const byPatch = () => upload(site.target, GiB)
    const byImport = async () => arrived(site.database, await begin())
    const withDigest = async () => arrived(site.database, await begin({ digest: source.digest }))
    const of = (work: () => Promise<void>) => cpuPerGiB(site.node, GiB, work)
    const ways = [byPatch, byImport, withDigest]
    const [patched, imported, digested] = (await inTurns(of, ways)) as [number, number, number]
    return [
      {
        what: 'CPU per GiB of an import relative to a PATCH',
        measured: `${(imported / patched).toFixed(2)} times (import ${imported.toFixed(2)}, PATCH ${patched.toFixed(2)} s/GiB); ${(digested / patched).toFixed(2)} times with a digest (${digested.toFixed(2)} s/GiB)`,
        wanted: '≤ 1.2 times',
        holds: imported / patched <= 1.2,
      },
    ]
  } finally {
    source.close()
    await site.node.stop()
    await site.drop()
  }
}

async function openEndlessSource() {
  const chunk = Buffer.alloc(MiB, 'film')
  const server = createServer((_, res) => {
    res.writeHead(200, { ETag: '"one"', 'Content-Length': GiB })
    let left = GiB / MiB
    const more = () => {
      while (left > 0) {
        left -= 1
        if (!res.write(chunk)) return
      }
      res.end()
    }
    res.on('drain', more)
    more()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = () => void server.close().closeAllConnections()
  const hash = createHash('sha256')
  for (let n = 0; n < GiB / MiB; n++) hash.update(chunk)
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/film.mp4`
  return { url, digest: `sha-256:${hash.digest('hex')}`, close }
}

/** Returns a function that starts an import on the site's only Pipe. */
async function importing(database: DatabaseHandle, { url }: { url: string }) {
  const runtime = {
    ...testRuntime(database, { FREE_TIER_BYTES: '0' }),
    clock: { ...systemClock, advance() {} },
  }
  const senderToken = newSecret('sk_')
  const [pipe] = await rows<{ id: string }>(
    database.db,
    sql`with known as (update senders set token_hash = ${hashSecret(senderToken)})
      update pipes set source_url = true returning id`,
  )
  return async (asked: { digest?: string } = {}) => {
    const input = parseInput(importsInput, { pipeId: pipe!.id, files: [{ url, ...asked }] })
    return (await createImports(runtime, senderToken, input))[0]!
  }
}

async function arrived(database: DatabaseHandle, fileId: string): Promise<void> {
  for (;;) {
    const [file] = await rows<{ status: string }>(
      database.db,
      sql`select status from files where id = ${fileId}::uuid`,
    )
    if (file!.status === 'transferred') return
    if (file!.status !== 'uploading' && file!.status !== 'transferring')
      throw new Error(`the import is ${file!.status}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
