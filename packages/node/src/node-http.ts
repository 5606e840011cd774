/** What is needed of the requests of Node's own server, of Express and of Fastify's raw ones. */
export type NodeRequest = AsyncIterable<Uint8Array> & {
  method?: string | undefined
  url?: string | undefined
  originalUrl?: string
  headers: Record<string, string | string[] | undefined>
}
export type NodeResponse = {
  writeHead(status: number, headers: Record<string, string>): unknown
  end(body?: Uint8Array): unknown
  once(event: 'close', listener: () => void): unknown
}

/** Lets such a server answer by what takes a `Request` and gives a `Response`. */
export function toNodeHandler(
  handle: (request: Request) => Promise<Response>,
): (req: NodeRequest, res: NodeResponse) => Promise<void> {
  return async (req, res) => {
    const gone = new AbortController()
    res.once('close', () => gone.abort())
    const response = await handle(toRequest(req, gone.signal))
    const body = new Uint8Array(await response.arrayBuffer())
    res.writeHead(response.status, Object.fromEntries(response.headers))
    res.end(body)
  }
}

function toRequest(req: NodeRequest, signal: AbortSignal): Request {
  const { method = 'GET' } = req
  const headers = new Headers()
  for (const [name, value] of Object.entries(req.headers)) {
    for (const one of [value ?? []].flat()) headers.append(name, one)
  }
  const url = new URL(req.originalUrl ?? req.url ?? '/', `http://${headers.get('host') ?? 'localhost'}`)
  const hasBody = method !== 'GET' && method !== 'HEAD'
  return new Request(url, {
    method,
    headers,
    signal,
    // Half: the whole body is sent before the answer begins. The types of browsers do not know it yet.
    ...(hasBody && ({ body: bodyOf(req), duplex: 'half' } as object)),
  })
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
