import { pageAnswer, pageQuery } from '../../platform/db/page.ts'
import { cancelUploadsOfPipe } from '../../uploads/endings/end-upload.ts'
import { createPipe } from '../../workspace/pipes/create-pipe.ts'
import { deletedPipeAnswer, deletePipe } from '../../workspace/pipes/delete-pipe.ts'
import { pipeAnswer, pipeChanges, pipeInput } from '../../workspace/pipes/pipe.ts'
import { listPipes, showPipe } from '../../workspace/pipes/read-pipes.ts'
import { updatePipe } from '../../workspace/pipes/update-pipe.ts'
import { operation } from '../operation.ts'

const tag = 'Pipes'

export const pipeOperations = [
  operation({
    id: 'createPipe',
    right: 'build',
    method: 'POST',
    path: '/pipes',
    tag,
    summary: 'Create a Pipe.',
    body: pipeInput,
    status: 201,
    answer: pipeAnswer,
    problems: ['rate_limited'],
    run: ({ runtime, who, body }) => createPipe(runtime, who, body),
  }),
  operation({
    id: 'listPipes',
    right: 'see',
    method: 'GET',
    path: '/pipes',
    tag,
    summary: 'List Pipes, newest first.',
    query: pageQuery,
    status: 200,
    answer: pageAnswer(pipeAnswer),
    run: ({ runtime, who, query }) => listPipes(runtime, who, query),
  }),
  operation({
    id: 'showPipe',
    right: 'see',
    method: 'GET',
    path: '/pipes/{id}',
    tag,
    summary: 'Show a Pipe.',
    status: 200,
    answer: pipeAnswer,
    problems: ['pipe_not_found'],
    run: ({ runtime, who, params }) => showPipe(runtime, who, params.id!),
  }),
  operation({
    id: 'updatePipe',
    right: 'build',
    method: 'PATCH',
    path: '/pipes/{id}',
    tag,
    summary: 'Change a Pipe. Uploads under way keep what they began with.',
    body: pipeChanges,
    status: 200,
    answer: pipeAnswer,
    problems: ['pipe_not_found'],
    run: ({ runtime, who, params, body }) => updatePipe(runtime, who, params.id!, body),
  }),
  operation({
    id: 'deletePipe',
    right: 'build',
    method: 'DELETE',
    path: '/pipes/{id}',
    tag,
    summary: 'Delete a Pipe. Its uploads under way are canceled; files that arrived stay.',
    status: 200,
    answer: deletedPipeAnswer,
    problems: ['pipe_not_found'],
    run: ({ runtime, who, params }) => deletePipe(runtime, who, params.id!, cancelUploadsOfPipe(runtime)),
  }),
]
