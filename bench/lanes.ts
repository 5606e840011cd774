import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { readOptions } from '../scripts/read-options.ts'
import { startPostgres } from '../test/support/postgres.ts'
import { MiB } from './load.ts'
import { startSink } from './processes.ts'
import { startSluiceNode } from './sluice-site.ts'

/**
 * Compares one connection with several, for the command-line tool and one file: on a line that limits each connection,
 * and on one that all connections share. Prints the medians.
 */
const { values } = readOptions('npm run bench -- lanes [-- --rounds 3]', {
  options: { rounds: { type: 'string', default: '3' } },
})
const FILE_BYTES = 96 * MiB
const RATE = 4 * MiB
const ONE_WAY_MS = 40

/** When bytes have left a line with this rate. */
function pace() {
  let freeAtMs = 0
  return (bytes: number) => {
    freeAtMs = Math.max(freeAtMs, performance.now()) + (bytes / RATE) * 1000
    return freeAtMs
  }
}

async function* paced(from: Socket, leavesAt: (bytes: number) => number) {
  for await (const bytes of from as AsyncIterable<Buffer>) {
    const atMs = leavesAt(bytes.length)
    yield { bytes, atMs: atMs + ONE_WAY_MS }
    await sleep(Math.max(0, atMs - performance.now()))
  }
}

/** Delivers chunks in order, each when it is due. */
async function deliver(chunks: AsyncIterable<{ bytes: Buffer; atMs: number }>, to: Socket): Promise<void> {
  let before = Promise.resolve()
  try {
    for await (const { bytes, atMs } of chunks)
      before = before.then(async () => {
        await sleep(Math.max(0, atMs - performance.now()))
        to.write(bytes)
      })
    await before
    to.end()
  } catch {
    to.destroy()
  }
}

/** A proxy that is as far away as another continent. */
async function openLine(isShared: boolean) {
  const line = { port: 0, toPort: 0, close: () => server.close() }
  const shared = pace()
  const server = createServer({ noDelay: true }, (near) => {
    const far = connect({ port: line.toPort, host: '127.0.0.1', noDelay: true })
    for (const socket of [near, far]) socket.on('error', () => socket.destroy())
    void deliver(paced(near, isShared ? shared : pace()), far)
    void deliver(
      paced(far, () => performance.now()),
      near,
    )
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  line.port = (server.address() as AddressInfo).port
  return line
}

const folder = mkdtempSync(join(tmpdir(), 'sluice-lanes-'))
const path = join(folder, 'film.bin')
writeFileSync(path, randomBytes(FILE_BYTES))
const postgres = await startPostgres()
const sink = await startSink()
const medianOf = (all: number[]) => all.sort((a, b) => a - b)[Math.floor(all.length / 2)]!

for (const isShared of [false, true]) {
  const line = await openLine(isShared)
  const uploadUrl = `http://127.0.0.1:${line.port}`
  const site = await startSluiceNode(postgres.url, sink.url, { UPLOAD_URL: uploadUrl })
  line.toPort = Number(new URL(site.node.url).port)
  const token = site.target.headers.Authorization!.slice('Bearer '.length)
  const answer = {
    token,
    uploadUrl: `${uploadUrl}/pipes/${site.pipeId}/files/`,
    expiresAt: '2100-01-01T00:00:00.000Z',
  }
  const api = createHttpServer((_, res) =>
    res.writeHead(201, { 'Content-Type': 'application/json' }).end(JSON.stringify(answer)),
  ).listen(0, '127.0.0.1')
  await once(api, 'listening')
  const env = {
    ...process.env,
    SLUICE_CONFIG_DIR: folder,
    SLUICE_URL: `http://127.0.0.1:${(api.address() as AddressInfo).port}`,
    SLUICE_PIPE_ID: site.pipeId,
    SLUICE_SENDER_TOKEN: site.senderToken,
  }
  const secondsWith = async (connections: number) => {
    const startedMs = performance.now()
    const args = ['packages/cli/src/main.ts', 'upload', path, '--connections', String(connections)]
    const [code] = await once(spawn(process.execPath, args, { env, stdio: 'inherit' }), 'close')
    if (code !== 0) throw new Error(`sluice upload ended with ${code}`)
    return (performance.now() - startedMs) / 1000
  }
  const one: number[] = []
  const several: number[] = []
  for (let round = 0; round < Number(values.rounds); round += 1) {
    one.push(await secondsWith(1))
    several.push(await secondsWith(8))
  }
  const [alone, together] = [medianOf(one), medianOf(several)]
  const what = isShared ? 'all connections share 4 MiB/s' : 'each connection has 4 MiB/s'
  console.log(
    `${what}: one ${alone.toFixed(1)} s, several ${together.toFixed(1)} s, ${(alone / together).toFixed(2)} times as fast`,
  )
  await site.node.stop()
  await site.drop()
  api.close()
  line.close()
}
await sink.stop()
await postgres.stop()
rmSync(folder, { recursive: true })
