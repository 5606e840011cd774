import { cancelFile, decideOnFile, eraseFile } from '../../dashboard/files/act-on-files.ts'
import { fileAnswer, fileWithTimelineAnswer } from '../../dashboard/files/file.ts'
import { fileQuery } from '../../dashboard/files/file-query.ts'
import { listFiles, readFiles } from '../../dashboard/files/list-files.ts'
import { showFile } from '../../dashboard/files/show-file.ts'
import { decisionInput } from '../../hooks/answers.ts'
import { importAnswer, readImport } from '../../imports/read-imports.ts'
import { pageAnswer } from '../../platform/db/page.ts'
import { requestRepair } from '../../repairs/request-repair.ts'
import { operationsOf } from '../operation.ts'

const { operation } = operationsOf('Files')

export const fileOperations = [
  operation('GET /files', {
    id: 'listFiles',
    right: 'see',
    summary:
      'List files, newest first by default. With a filter, a page may contain fewer files than its limit and still have a next page.',
    query: fileQuery,
    answer: pageAnswer(fileAnswer),
    run: async ({ runtime, who, query }) => {
      const { data, nextCursor } = await listFiles(runtime, who, query)
      return { data, nextCursor }
    },
  }),
  operation('GET /files/{id}', {
    id: 'showFile',
    right: 'see',
    summary: 'Show a file with its timeline.',
    answer: fileWithTimelineAnswer.extend({ import: importAnswer.nullable() }),
    problems: ['not_found'],
    run: async ({ runtime, who, params }) => {
      const file = await showFile(runtime, who, params.id!)
      return { ...file, import: await readImport(runtime, file.id) }
    },
  }),
  operation('POST /files/{id}/cancel', {
    id: 'cancelFile',
    right: 'operate',
    summary: 'Cancel an upload in progress.',
    answer: fileAnswer,
    problems: ['not_found', 'conflict'],
    run: ({ runtime, who, params }) => cancelFile(runtime, who, params.id!),
  }),
  operation('POST /files/{id}/destinations/{destinationId}/repair', {
    id: 'repairDestination',
    right: 'operate',
    summary:
      'Copy the object of a partially transferred file to a destination that is missing it, from one that can be read. The copy starts within seconds; the file is transferred once every destination has the object.',
    status: 202,
    answer: fileAnswer,
    problems: ['not_found', 'conflict'],
    run: async ({ runtime, who, params: { id, destinationId } }) => {
      await requestRepair(runtime, who, { fileId: id!, dataStoreId: destinationId! })
      const [file] = await readFiles(runtime.db, [id!])
      return file!
    },
  }),
  operation('POST /files/{id}/decision', {
    id: 'decideOnFile',
    right: 'operate',
    summary:
      'Allow or reject a file that its `before_complete` hook has deferred. The same decision can be sent again; a different one is a conflict.',
    body: decisionInput,
    answer: fileAnswer,
    problems: ['not_found', 'conflict'],
    run: ({ runtime, who, params, body }) => decideOnFile(runtime, who, params.id!, body),
  }),
  operation('DELETE /files/{id}', {
    id: 'eraseFile',
    right: 'administer',
    summary: "Erase a file's record. The object stays in the bucket.",
    status: 204,
    problems: ['not_found', 'conflict'],
    run: ({ runtime, who, params }) => eraseFile(runtime, who, params.id!),
  }),
]
