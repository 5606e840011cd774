import { pageAnswer, pageQuery } from '../../platform/db/page.ts'
import { cancelUploadsOfPipe } from '../../recovery/cancel-uploads.ts'
import { createPipe } from '../../workspace/pipes/create-pipe.ts'
import { deletedPipeAnswer, deletePipe } from '../../workspace/pipes/delete-pipe.ts'
import { pipeAnswer, pipeChanges, pipeInput } from '../../workspace/pipes/pipe.ts'
import { listPipes, showPipe } from '../../workspace/pipes/read-pipes.ts'
import { updatePipe } from '../../workspace/pipes/update-pipe.ts'
import { operationsOf } from '../operation.ts'

const { operation } = operationsOf('Pipes')

export const pipeOperations = [
  operation('POST /pipes', {
    id: 'createPipe',
    right: 'build',
    summary: 'Create a Pipe.',
    body: pipeInput,
    status: 201,
    answer: pipeAnswer,
    problems: ['rate_limited'],
    run: ({ runtime, who, body }) => createPipe(runtime, who, body),
  }),
  operation('GET /pipes', {
    id: 'listPipes',
    right: 'see',
    summary: 'List Pipes, newest first.',
    query: pageQuery,
    answer: pageAnswer(pipeAnswer),
    run: ({ runtime, who, query }) => listPipes(runtime, who, query),
  }),
  operation('GET /pipes/{id}', {
    id: 'showPipe',
    right: 'see',
    summary: 'Show a Pipe.',
    answer: pipeAnswer,
    problems: ['pipe_not_found'],
    run: ({ runtime, who, params }) => showPipe(runtime, who, params.id!),
  }),
  operation('PATCH /pipes/{id}', {
    id: 'updatePipe',
    right: 'build',
    summary: 'Change a Pipe. Uploads in progress keep their settings.',
    body: pipeChanges,
    answer: pipeAnswer,
    problems: ['pipe_not_found'],
    run: ({ runtime, who, params, body }) => updatePipe(runtime, who, params.id!, body),
  }),
  operation('DELETE /pipes/{id}', {
    id: 'deletePipe',
    right: 'build',
    summary: 'Delete a Pipe. Its uploads in progress are canceled; transferred files stay.',
    answer: deletedPipeAnswer,
    problems: ['pipe_not_found'],
    run: ({ runtime, who, params }) => deletePipe(runtime, who, params.id!, cancelUploadsOfPipe(runtime)),
  }),
]
