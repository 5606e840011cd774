import type { NextRequest } from 'next/server'
import { fileQuery } from '#lib/dashboard/files/file-query.ts'
import { eachFile } from '#lib/dashboard/files/list-files.ts'
import { parseInput } from '#lib/platform/kernel/parse-input.ts'
import { exportOrProblem } from '../../export-or-problem.ts'
import { streamExport } from '../../stream-export.ts'
import { wantedFiles } from '../wanted-files.ts'

export function GET(request: NextRequest): Promise<Response> {
  return exportOrProblem('see', (runtime, actor) => {
    const { format, cursor: _, ...query } = Object.fromEntries(request.nextUrl.searchParams)
    const wanted = wantedFiles(query, undefined, runtime.clock.now())
    return streamExport({
      name: 'sluice-files',
      format: format ?? null,
      pages: eachFile(runtime, actor, parseInput(fileQuery, wanted)),
      columns: [
        ['id', ({ id }) => id],
        ['filename', ({ filename }) => filename],
        ['filetype', ({ filetype }) => filetype],
        ['status', ({ status }) => status],
        ['size', ({ size }) => size],
        ['offset', ({ offset }) => offset],
        ['created_at', ({ createdAt }) => createdAt],
        ['finished_at', ({ finishedAt }) => finishedAt],
        ['pipe_id', ({ pipeId }) => pipeId],
        ['sender', ({ sender }) => sender],
        ['subject', ({ subject }) => subject],
        ['checksum', ({ checksum }) => checksum],
        ['sha256', ({ sha256 }) => sha256],
        ['failure_reason', ({ failureReason }) => failureReason],
        ['bucket', ({ destinations }) => destinations[0]?.bucket ?? null],
        ['key', ({ destinations }) => destinations[0]?.key ?? null],
      ],
    })
  })
}
