import { z } from 'zod'
import type { Operation } from './operation.ts'

/** OpenAPI links: where the ids of an answer lead. */
export type Links = Record<string, { operationId: string; parameters: { id: string }; description: string }>

/** `id` names what the address is about; the others name something else. */
const NAMED: Record<string, string> = {
  pipeId: '/pipes/{id}',
  dataStoreId: '/data-stores/{id}',
  fileId: '/files/{id}',
  senderId: '/senders/{id}',
}

export function linksOf(operation: Operation, all: Operation[]): Links {
  if (!(operation.answer instanceof z.ZodObject)) return {}
  const fields = Object.keys(operation.answer.shape)
  const own = operation.path.split('/{id}')[0]
  const below = all.filter(({ path }) => fields.includes('id') && path.startsWith(`${own}/{id}`))
  const named = fields.flatMap((field) =>
    all
      .filter(({ path, method }) => method === 'GET' && path === NAMED[field])
      .map((to) => [to, field] as const),
  )
  return Object.fromEntries(
    [...below.map((to) => [to, 'id'] as const), ...named]
      .filter(([to]) => to.id !== operation.id)
      .map(([{ id, summary }, field]) => [
        id,
        { operationId: id, parameters: { id: `$response.body#/${field}` }, description: summary },
      ]),
  )
}
