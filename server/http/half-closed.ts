import type { IncomingMessage, Server, ServerResponse } from 'node:http'

/**
 * A client may close its side of the connection once it has sent its whole request, and still read the response. By default Node
 * closes the other side at once, and the response is lost.
 *
 * A client that has left looks the same until something is written to it. That costs a response that ends by itself nothing, and a
 * request that is cut short is still noticed by its missing bytes. A stream of events has no end, so closing one side of it is
 * leaving, as before.
 */
export function answerHalfClosed<S extends Server>(server: S): S {
  // Node has had this since its first versions; its types have not.
  Object.assign(server, { httpAllowHalfOpen: true })
  return server.on('request', endStreamWhenClosed).on('checkContinue', endStreamWhenClosed)
}

function endStreamWhenClosed(req: IncomingMessage, res: ServerResponse): void {
  const { socket } = req
  const endStream = () => {
    if (socket.readableEnded && isStream(res)) res.destroy()
  }
  socket.once('end', endStream)
  res.once('close', () => socket.off('end', endStream))
  // The client may have closed its side before it was known that the response is a stream.
  const writeHead = res.writeHead.bind(res)
  res.writeHead = ((status: number, ...rest: []) => {
    writeHead(status, ...rest)
    endStream()
    return res
  }) as typeof res.writeHead
}

function isStream(res: ServerResponse): boolean {
  return res.headersSent && String(res.getHeader('content-type')).startsWith('text/event-stream')
}
