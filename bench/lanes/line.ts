import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { MiB } from '../load.ts'

const RATE = 4 * MiB
const ONE_WAY_MS = 40
/** How much a sender sends before the other side has received it: twice what fills the line. */
const WINDOW_BYTES = (2 * RATE * 2 * ONE_WAY_MS) / 1000

export type Line = Awaited<ReturnType<typeof openLine>>

/** A proxy that is as far away as another continent, and gives 4 MiB/s to each connection, or to all together. */
export async function openLine(isShared: boolean) {
  const line = {
    url: '',
    toPort: 0,
    /** How many bytes of clients have passed. */
    passedBytes: 0,
    /** Breaks every connection. What is on its way is lost. */
    cut() {
      for (const socket of sockets) socket.destroy()
    },
    close: () => server.close(),
  }
  const sockets = new Set<Socket>()
  const shared = pace()
  const server = createServer({ noDelay: true }, (near) => {
    const far = connect({ port: line.toPort, host: '127.0.0.1', noDelay: true })
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket))
    }
    const leaves = isShared ? shared : pace()
    const counted = (bytes: number) => {
      line.passedBytes += bytes
      return leaves(bytes)
    }
    void deliver(paced(near, counted), far)
    void deliver(
      paced(far, () => performance.now()),
      near,
    )
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  line.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return line
}

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

/** Delivers chunks in order, each when it is due and the other side reads, and then closes the other side. */
async function deliver(chunks: AsyncIterable<{ bytes: Buffer; atMs: number }>, to: Socket): Promise<void> {
  let before = Promise.resolve()
  let onTheWayBytes = 0
  try {
    for await (const { bytes, atMs } of chunks) {
      onTheWayBytes += bytes.length
      before = before.then(async () => {
        await sleep(Math.max(0, atMs - performance.now()))
        const isFull = !to.destroyed && !to.write(bytes)
        if (isFull) await new Promise((resolve) => to.once('drain', resolve).once('close', resolve))
        onTheWayBytes -= bytes.length
      })
      if (onTheWayBytes > WINDOW_BYTES) await before
    }
    await before
    to.destroySoon()
  } catch {
    to.destroy()
  }
}
