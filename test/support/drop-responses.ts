import type { IncomingMessage, Server, ServerResponse } from 'node:http'

/**
 * After `drop(times)`, closes the connection instead of sending the next `times` responses for which `isDue` returns
 * true.
 */
export function dropResponses(server: Server, isDue: () => boolean) {
  const dropping = { times: 0, dropped: 0 }
  server.prependListener('request', (_: IncomingMessage, res: ServerResponse) => {
    const writeHead = res.writeHead.bind(res)
    res.writeHead = ((...head: Parameters<typeof writeHead>) => {
      if (res.destroyed) return res
      if (dropping.dropped === dropping.times || !isDue()) return writeHead(...head)
      dropping.dropped += 1
      res.destroy()
      return res
    }) as typeof res.writeHead
  })
  return {
    get dropped() {
      return dropping.dropped
    },
    drop(times: number) {
      Object.assign(dropping, { times, dropped: 0 })
    },
  }
}
