import { batchAnswer, showBatch } from '../../batches/batch.ts'
import { sealBatch, sealInput, sealNamedBatch } from '../../batches/seal-batch.ts'
import { operationsOf } from '../operation.ts'

const { operation, senderOperation } = operationsOf('Batches')

export const batchOperations = [
  senderOperation('POST /batches/seal', {
    id: 'sealNamedBatch',
    summary:
      "Seal a batch named by this Sender's tokens: it then accepts no more files, and `batch.completed` is sent once all its files have ended. Sealing it again changes nothing.",
    body: sealInput,
    answer: batchAnswer,
    problems: ['not_found'],
    run: ({ runtime, who, body }) => sealNamedBatch(runtime, who, body),
  }),
  operation('GET /batches/{id}', {
    id: 'showBatch',
    right: 'see',
    summary: 'Show a batch. GET /files?batchId= lists its files.',
    answer: batchAnswer,
    problems: ['not_found'],
    run: ({ runtime, who, params }) => showBatch(runtime, who, params.id!),
  }),
  operation('POST /batches/{id}/seal', {
    id: 'sealBatch',
    right: 'operate',
    summary: 'Seal a batch, regardless of who named it.',
    answer: batchAnswer,
    problems: ['not_found'],
    run: ({ runtime, who, params }) => sealBatch(runtime, who, params.id!),
  }),
]
