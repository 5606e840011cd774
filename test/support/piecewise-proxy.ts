import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A proxy between a browser and Sluice that sends pages in pieces, one for each call of `next`. */
export type PiecewiseProxy = {
  url: string
  /** Sends the next piece of the page in progress; false if there was none left. */
  next(): Promise<boolean>
  close(): Promise<void>
}

const PIECES = 24

export async function startPiecewiseProxy(target: string): Promise<PiecewiseProxy> {
  let pending = Promise.withResolvers<{ pieces: Buffer[]; response: ServerResponse }>()
  const server = createServer((incoming, response) => {
    const headers = { ...incoming.headers, host: new URL(target).host, 'accept-encoding': 'identity' }
    const sent = request(new URL(incoming.url!, target), { method: incoming.method!, headers }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers)
      if (!answer.headers['content-type']?.startsWith('text/html')) return void answer.pipe(response)
      void piecesOf(answer).then((pieces) => pending.resolve({ pieces, response }))
    })
    sent.on('error', () => response.destroy())
    incoming.pipe(sent)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    async next() {
      const { pieces, response } = await pending.promise
      const piece = pieces.shift()
      if (piece) {
        response.write(piece)
        return true
      }
      response.end()
      pending = Promise.withResolvers()
      return false
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** The head in one piece, so that its styles can be fetched, then the visible content, in equal parts. */
async function piecesOf(answer: IncomingMessage): Promise<Buffer[]> {
  const whole = Buffer.concat(await answer.toArray())
  const [begin, end] = [whole.indexOf('<main'), whole.indexOf('</main>')]
  const bytes = Math.ceil((end - begin) / PIECES)
  const cuts = Array.from({ length: PIECES + 1 }, (_, n) => begin + n * bytes)
  return [0, ...cuts].map((from, n) => whole.subarray(from, cuts[n]))
}
