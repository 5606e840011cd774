import type { IncomingMessage } from 'node:http'
import type { PostAnswer, PostLimits } from './post.ts'

/** Takes what is to be kept of an answer, and lets go of the connection if there is more. */
export async function readAnswer(
  response: IncomingMessage,
  { bodyMs, bodyBytes }: PostLimits,
  untilMs: number,
): Promise<PostAnswer> {
  const chunks: Buffer[] = []
  let size = 0
  const patienceMs = Math.max(0, Math.min(bodyMs, untilMs - performance.now()))
  const cut = await new Promise<string | undefined>((resolve) => {
    const timer = setTimeout(
      end,
      patienceMs,
      `Its body was not complete ${Math.ceil(patienceMs / 1000)} s after its headers; the rest was not read.`,
    )
    function end(why?: string) {
      clearTimeout(timer)
      if (why) response.destroy()
      resolve(why)
    }
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      size += chunk.length
      if (size > bodyBytes) end(`Its body is longer than ${bodyBytes / 1024} KiB; the rest was not read.`)
    })
    response.once('end', () => end())
    response.on('error', () => end('The connection was closed in the middle of its body.'))
    response.once('close', () => end())
  })
  return {
    status: response.statusCode!,
    headers: storable(response.headers),
    body: withoutNul(Buffer.concat(chunks).subarray(0, bodyBytes).toString('utf8')),
    ...(cut && { cut }),
  }
}

function storable(headers: IncomingMessage['headers']): Record<string, string> {
  const entries = Object.entries(headers).map(([name, value]) => [
    name,
    withoutNul([value].flat().join(', ')),
  ])
  return Object.fromEntries(entries)
}

/** PostgreSQL keeps no NUL in a text. */
function withoutNul(text: string): string {
  return text.replaceAll('\u0000', '\ufffd')
}
