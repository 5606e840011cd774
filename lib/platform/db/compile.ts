import { SQL, type SQLChunk, StringChunk } from 'drizzle-orm'

/**
 * The text and parameters of a hand-made statement, as Drizzle makes them but at a fraction of the cost, which shows where
 * a request is little more than its statements. Undefined if it holds more than text, parameters and other statements.
 */
export function compile(statement: SQL): { sql: string; params: unknown[] } | undefined {
  const params: unknown[] = []
  let text = ''
  const add = (chunks: readonly SQLChunk[]): boolean =>
    chunks.every((chunk) => {
      if (chunk instanceof StringChunk) text += chunk.value.join('')
      else if (chunk instanceof SQL) return add(chunk.queryChunks)
      else if (chunk === undefined || (chunk !== null && typeof chunk === 'object')) return false
      else text += `$${params.push(chunk)}`
      return true
    })
  return add(statement.queryChunks) ? { sql: text, params } : undefined
}
