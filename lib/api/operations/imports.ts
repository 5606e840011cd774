import { z } from 'zod'
import { fileAnswer } from '../../dashboard/files/file.ts'
import { readFiles } from '../../dashboard/files/list-files.ts'
import { createImports } from '../../imports/create-imports.ts'
import { importInput, importsInput } from '../../imports/import.ts'
import { cancelImport, findImported, importAnswer, readImport } from '../../imports/read-imports.ts'
import { authenticateSender } from '../../workspace/senders/read-senders.ts'
import { operationsOf, type Problem } from '../operation.ts'

const { senderOperation } = operationsOf('Imports')
const problems: Problem[] = [
  'address_not_allowed',
  'pipe_not_found',
  { code: 'pipe_source_off', status: 409 },
  'forbidden',
  'data_store_not_ready',
  'quota_exceeded',
  'rate_limited',
]

export const importOperations = [
  senderOperation('POST /imports', {
    id: 'createImport',
    summary:
      'Import a file from a URL. Sluice fetches it in the background, and the file shows the progress.',
    body: importInput,
    once: true,
    status: 202,
    answer: fileAnswer,
    problems,
    async run({ runtime, who, body: { url, headers, filename, digest, ...common } }) {
      const files = [{ url, headers, filename, digest }]
      const ids = await createImports(runtime, who, { ...common, files })
      return (await readFiles(runtime.db, ids))[0]!
    },
  }),
  senderOperation('POST /imports/batch', {
    id: 'createImports',
    summary: 'Import up to 1,000 files: either all of them are accepted, in list order, or none.',
    body: importsInput,
    once: true,
    status: 202,
    answer: z.strictObject({ data: z.array(fileAnswer) }),
    problems,
    async run({ runtime, who, body }) {
      const ids = await createImports(runtime, who, body)
      const made = new Map((await readFiles(runtime.db, ids)).map((file) => [file.id, file]))
      return { data: ids.map((id) => made.get(id)!) }
    },
  }),
  senderOperation('GET /imports/{id}', {
    id: 'showImport',
    summary: "Show one of this Sender's imports, by its file id.",
    answer: fileAnswer.extend({ import: importAnswer }),
    problems: ['not_found'],
    async run({ runtime, who, params }) {
      const sender = await authenticateSender(runtime, who)
      const { id } = await findImported(runtime.db, sender, params.id!)
      const [[file], from] = await Promise.all([readFiles(runtime.db, [id]), readImport(runtime, id)])
      return { ...file!, import: from! }
    },
  }),
  senderOperation('DELETE /imports/{id}', {
    id: 'cancelImport',
    summary: "Cancel one of this Sender's imports.",
    status: 204,
    problems: ['not_found', 'conflict'],
    run: async ({ runtime, who, params }) =>
      cancelImport(runtime, await authenticateSender(runtime, who), params.id!),
  }),
]
