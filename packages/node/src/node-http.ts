/** What this adapter needs from a request in Node's own server or Express, or from a raw request in Fastify. */
export type NodeRequest = AsyncIterable<Uint8Array> & {
  method?: string | undefined
  url?: string | undefined
  originalUrl?: string
  headers: Record<string, string | string[] | undefined>
}
export type NodeResponse = {
  writeHead(status: number, headers: string[]): unknown
  end(body?: Uint8Array): unknown
  once(event: 'close', listener: () => void): unknown
}

type NodeHandler = (req: NodeRequest, res: NodeResponse, next?: (error: unknown) => void) => Promise<void>

/**
 * Adapts a function from `Request` to `Response` for these servers. The handler never rejects, because an unhandled rejection would end the process:
 * errors go to Express, or to the console.
 */
export function toNodeHandler(handle: (request: Request) => Promise<Response>): NodeHandler {
  return async (req, res, next) => {
    const gone = new AbortController()
    res.once('close', () => gone.abort())
    const request = toRequest(req, gone.signal)
    try {
      const response = request ? await handle(request) : new Response(null, { status: 400 })
      const body = new Uint8Array(await response.arrayBuffer())
      res.writeHead(response.status, [...response.headers].flat())
      res.end(body)
    } catch (error) {
      if (next) return next(error)
      console.error(error)
      res.writeHead(500, [])
      res.end()
    }
  }
}

/** Undefined if a client sent an invalid request, such as an invalid host. */
function toRequest(req: NodeRequest, signal: AbortSignal): Request | undefined {
  const { method = 'GET' } = req
  const headers = new Headers()
  for (const [name, value] of Object.entries(req.headers)) {
    for (const one of [value ?? []].flat()) headers.append(name, one)
  }
  const hasBody = method !== 'GET' && method !== 'HEAD'
  try {
    return new Request(`http://${headers.get('host') ?? 'localhost'}${req.originalUrl ?? req.url ?? '/'}`, {
      method,
      headers,
      signal,
      // Half duplex: the entire body is sent before the response starts. The browser types do not include it yet.
      ...(hasBody && ({ body: bodyOf(req), duplex: 'half' } as object)),
    })
  } catch {
    return undefined
  }
}

function bodyOf(req: NodeRequest): ReadableStream<Uint8Array> {
  const chunks = req[Symbol.asyncIterator]()
  return new ReadableStream({
    async pull(controller) {
      const { value, done } = await chunks.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
  })
}
