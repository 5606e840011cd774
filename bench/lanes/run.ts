import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readOptions } from '../../scripts/read-options.ts'
import { startPostgres } from '../../test/support/postgres.ts'
import { temporaryFolder } from '../../test/support/sluice.ts'
import { MiB } from '../load.ts'
import { startSink } from '../processes.ts'
import { type SluiceNode, startSluiceNode } from '../sluice-site.ts'
import { sendWithCli } from './command-line-tool.ts'
import { openLine } from './line.ts'
import { openPage, type Token } from './page.ts'

/**
 * Compares one connection with several for one file, for the command-line tool and for a page in Chromium: on a line
 * that limits each connection, and on one that all connections share. Beside them, Uppy sends the file straight to the
 * bucket. Prints medians.
 */
const { values } = readOptions('npm run bench -- lanes [-- --rounds 3]', {
  options: { rounds: { type: 'string', default: '3' } },
})
const FILE_BYTES = 96 * MiB

using folder = temporaryFolder()
const path = join(folder.path, 'film.bin')
writeFileSync(path, randomBytes(FILE_BYTES))
const postgres = await startPostgres()
const sink = await startSink()
const page = await openPage(path)
const medianOf = (all: number[]) => all.sort((a, b) => a - b)[Math.floor(all.length / 2)]!

type Site = { node: SluiceNode; token: Token }

async function withSite(isShared: boolean, use: (site: Site) => Promise<void>): Promise<void> {
  const line = await openLine(isShared)
  const node = await startSluiceNode(postgres.url, sink.url, { UPLOAD_URL: line.url })
  line.toPort = Number(new URL(node.node.url).port)
  const token = {
    token: node.target.headers.Authorization!.slice('Bearer '.length),
    uploadUrl: `${line.url}/pipes/${node.pipeId}/files/`,
    expiresAt: '2100-01-01T00:00:00.000Z',
  }
  await use({ node, token })
  await node.node.stop()
  await node.drop()
  line.close()
}

for (const isShared of [false, true]) {
  const bucketLine = await openLine(isShared)
  bucketLine.toPort = Number(new URL(sink.url).port)
  await withSite(isShared, async ({ node, token }) => {
    const sending = {
      token,
      pipeId: node.pipeId,
      senderToken: node.senderToken,
      path,
      configFolder: folder.path,
    }
    const ways: Record<string, () => Promise<number>> = {
      'command-line tool, one': () => sendWithCli(sending, 1),
      'command-line tool, several': () => sendWithCli(sending, 8),
      'page, one': () => page.send(token, 1),
      'page, several': () => page.send(token, 5),
      'Uppy to the bucket': () => page.sendWithUppy(`${bucketLine.url}/media`),
    }
    const took = new Map<string, number[]>(Object.keys(ways).map((name) => [name, []]))
    for (let round = 0; round < Number(values.rounds); round += 1)
      for (const [name, send] of Object.entries(ways)) took.get(name)!.push(await send())
    console.log(isShared ? '4 MiB/s for all connections together' : '4 MiB/s for each connection')
    for (const [name, all] of took) console.log(`  ${name}: ${medianOf(all).toFixed(1)} s`)
  })
  bucketLine.close()
}

await page.close()
await sink.stop()
await postgres.stop()
