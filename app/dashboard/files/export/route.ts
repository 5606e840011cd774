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
        ...(['id', 'filename', 'filetype', 'status', 'size', 'offset', 'createdAt', 'finishedAt'] as const),
        ...(['pipeId', 'sender', 'subject', 'checksum', 'sha256', 'failureReason'] as const),
        ['bucket', ({ destinations }) => destinations[0]?.bucket ?? null],
        ['key', ({ destinations }) => destinations[0]?.key ?? null],
      ],
    })
  })
}
