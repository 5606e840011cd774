import type { IncomingMessage } from 'node:http'
import type { Answer } from './exchange.ts'

/** Counts the memory of responses. `take` returns false if there is not enough. */
export type ResponseMemory = { take(bytes: number): boolean; give(bytes: number): void }

/** A response of S3 has a few hundred bytes, and with keys of 1 KiB in it a few thousand. */
const MAX_ANSWER_BYTES = 64 * 1024
const FIRST_BYTES = 1024

/**
 * Keeps a response in one piece of memory, which grows as bytes come: a byte at a time costs no more than a byte. A refusal
 * that is too long is cut. The memory for bytes of an object that were asked for is counted by the caller.
 */
export async function collectAnswer(
  response: IncomingMessage,
  { wantedBytes = 0, memory }: { wantedBytes?: number | undefined; memory?: ResponseMemory | undefined },
): Promise<Answer> {
  const status = response.statusCode!
  const succeeds = status >= 200 && status < 300
  const freeBytes = succeeds ? wantedBytes : 0
  const maxBytes = Math.max(freeBytes, MAX_ANSWER_BYTES)
  let kept = Buffer.alloc(0)
  let bytes = 0
  let takenBytes = 0
  const grow = (needed: number) => {
    const size = Math.min(Math.max(needed, freeBytes, FIRST_BYTES, 4 * kept.length), maxBytes)
    const more = Math.max(size - freeBytes - takenBytes, 0)
    if (memory && !memory.take(more)) throw new Error('there is no memory for the answer')
    takenBytes += more
    const grown = Buffer.allocUnsafeSlow(size)
    kept.copy(grown)
    kept = grown
  }
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      const over = bytes + chunk.length > maxBytes
      if (over && succeeds) throw tooLong()
      const end = Math.min(bytes + chunk.length, maxBytes)
      if (end > kept.length) grow(end)
      chunk.copy(kept, bytes, 0, end - bytes)
      bytes = end
      // Leaving the loop ends the connection.
      if (over) break
    }
    return { status, headers: response.headers, body: kept.subarray(0, bytes) }
  } finally {
    memory?.give(takenBytes)
  }
}

function tooLong(): Error {
  return Object.assign(new Error('the answer is too long'), { code: 'too_long' })
}
