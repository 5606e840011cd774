import { isPipeId, isUuid } from '../../platform/kernel/ids.ts'

/** `/pipes/<pipe_id>/files/` and `/pipes/<pipe_id>/files/<file_id>`; a trailing slash may be there or not. */
export type UploadPath = { pipeId: string; fileId: string | undefined }

export function parseUploadPath(url: string): UploadPath | undefined {
  const path = url.split('?', 1)[0]!
  const [, pipeId, fileId] = path.match(/^\/pipes\/([^/]+)\/files(?:\/([^/]+))?\/?$/) ?? []
  if (!pipeId || !isPipeId(pipeId)) return undefined
  if (fileId !== undefined && !isUuid(fileId.toLowerCase())) return undefined
  return { pipeId, fileId: fileId?.toLowerCase() }
}

export function uploadAddress(uploadUrl: string, pipeId: string, fileId: string): string {
  return `${uploadUrl}/pipes/${pipeId}/files/${fileId}`
}
