import { SluiceError } from '../platform/kernel/errors.ts'
import type { Operation } from './operation.ts'
import { OPERATIONS } from './operations.ts'

const compiled = OPERATIONS.map((operation) => ({
  operation,
  pattern: new RegExp(`^${operation.path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`),
}))

export function matchOperation(
  method: string,
  path: string,
): { operation: Operation; params: Record<string, string> } {
  const here = compiled.filter(({ pattern }) => pattern.test(path))
  if (here.length === 0) throw new SluiceError('not_found', 'The API has no such address.')
  const found = here.find(({ operation }) => operation.method === method)
  if (found) return { operation: found.operation, params: { ...path.match(found.pattern)!.groups } }
  const Allow = here.map(({ operation }) => operation.method).join(', ')
  throw new SluiceError('method_not_allowed', `Use ${Allow}.`, { headers: { Allow } })
}
