import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { readOptions } from '../../scripts/read-options.ts'
import { startPostgres } from '../../test/support/postgres.ts'
import { temporaryFolder } from '../../test/support/sluice.ts'
import { MiB } from '../load.ts'
import { startSink } from '../processes.ts'
import { type SluiceNode, startSluiceNode } from '../sluice-site.ts'
import { type Line, openLine } from './line.ts'
import { openPage, type Token } from './page.ts'

/**
 * Compares one connection with several for one file, for the command-line tool and for a page in Chromium: on a line
 * that limits each connection, and on one that all connections share. Beside them, Uppy sends the file straight to the
 * bucket. Then counts the bytes of a page whose connections are cut five times and that is reloaded. Prints medians.
 */
const { values } = readOptions('npm run bench -- lanes [-- --rounds 3]', {
  options: { rounds: { type: 'string', default: '3' } },
})
const FILE_BYTES = 96 * MiB
const CUTS = 5

using folder = temporaryFolder()
const path = join(folder.path, 'film.bin')
writeFileSync(path, randomBytes(FILE_BYTES))
const postgres = await startPostgres()
const sink = await startSink()
const page = await openPage(path)
const medianOf = (all: number[]) => all.sort((a, b) => a - b)[Math.floor(all.length / 2)]!

type Site = { node: SluiceNode; line: Line; token: Token }

async function withSite(isShared: boolean, use: (site: Site) => Promise<void>): Promise<void> {
  const line = await openLine(isShared)
  const node = await startSluiceNode(postgres.url, sink.url, { UPLOAD_URL: line.url })
  line.toPort = Number(new URL(node.node.url).port)
  const token = {
    token: node.target.headers.Authorization!.slice('Bearer '.length),
    uploadUrl: `${line.url}/pipes/${node.pipeId}/files/`,
    expiresAt: '2100-01-01T00:00:00.000Z',
  }
  await use({ node, line, token })
  await node.node.stop()
  await node.drop()
  line.close()
}

/** Sends the file with the command-line tool. */
async function sendWithCli({ node, token }: Site, connections: number): Promise<number> {
  const api = createServer((_, res) =>
    res.writeHead(201, { 'Content-Type': 'application/json' }).end(JSON.stringify(token)),
  ).listen(0, '127.0.0.1')
  await once(api, 'listening')
  const env = {
    ...process.env,
    SLUICE_CONFIG_DIR: folder.path,
    SLUICE_URL: `http://127.0.0.1:${(api.address() as AddressInfo).port}`,
    SLUICE_PIPE_ID: node.pipeId,
    SLUICE_SENDER_TOKEN: node.senderToken,
  }
  const startedMs = performance.now()
  const args = ['packages/cli/src/main.ts', 'upload', path, '--connections', String(connections)]
  const [code] = await once(spawn(process.execPath, args, { env, stdio: 'inherit' }), 'close')
  if (code !== 0) throw new Error(`sluice upload ended with ${code}`)
  api.close()
  return (performance.now() - startedMs) / 1000
}

for (const isShared of [false, true]) {
  const bucketLine = await openLine(isShared)
  bucketLine.toPort = Number(new URL(sink.url).port)
  await withSite(isShared, async (site) => {
    const ways: Record<string, () => Promise<number>> = {
      'command-line tool, one': () => sendWithCli(site, 1),
      'command-line tool, several': () => sendWithCli(site, 8),
      'page, one': () => page.send(site.token, 1),
      'page, several': () => page.send(site.token, 5),
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

await withSite(false, async ({ line, token }) => {
  line.passedBytes = 0
  const when = async (share: number) => {
    while (line.passedBytes < FILE_BYTES * share) await sleep(20)
  }
  await page.send(token, 5, async (reload) => {
    for (let cut = 1; cut <= CUTS; cut += 1) {
      await when(cut / (CUTS + 2))
      line.cut()
    }
    await when((CUTS + 1) / (CUTS + 2))
    await reload()
  })
  const share = ((line.passedBytes / FILE_BYTES) * 100).toFixed(1)
  console.log(`page, connections cut ${CUTS} times and reloaded: ${share} % of the file's bytes were sent`)
})
await page.close()
await sink.stop()
await postgres.stop()
