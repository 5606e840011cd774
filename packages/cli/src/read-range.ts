import { createReadStream } from 'node:fs'
import { Failure } from './command.ts'

/**
 * The bytes of a file from `start` to before `end`. Fails if the file cannot be read or does not have all of them,
 * because a retry would not help.
 */
export async function* readRange(path: string, start: number, end: number): AsyncGenerator<Buffer> {
  let position = start
  try {
    if (start < end)
      for await (const chunk of createReadStream(path, { start, end: end - 1 })) {
        position += chunk.length
        yield chunk
      }
  } catch (error) {
    throw new Failure(`It cannot be read: ${(error as Error).message}`)
  }
  if (position < end) throw new Failure('It was truncated while it was read.')
}
