import { z } from 'zod'
import { openApiDocument } from '../open-api-document.ts'
import type { Operation } from '../operation.ts'

/** The description of all the others; it needs no key. */
export function documentOperation(described: Operation[]): Operation {
  return {
    id: 'openApi',
    method: 'GET',
    path: '/openapi.json',
    tag: 'Document',
    summary: 'This document.',
    auth: 'nobody',
    status: 200,
    answer: z.record(z.string(), z.unknown()),
    run: async ({ runtime }) => openApiDocument(described, runtime.config.baseUrl),
  }
}
