import { isPipeId, isUuid } from '../../platform/kernel/ids.ts'

/** `/pipes/<pipe_id>/files/`, followed by an upload's id or the name of a new file, and perhaps a trailing slash. */
export type UploadPath = { pipeId: string; fileId: string | undefined; name: string | undefined }

export function parseUploadPath(url: string): UploadPath | undefined {
  const path = url.split('?', 1)[0]!
  const [, pipeId, name] = path.match(/^\/pipes\/([^/]+)\/files(?:\/(.+?))?\/?$/) ?? []
  if (!pipeId || !isPipeId(pipeId)) return undefined
  const fileId = name !== undefined && isUuid(name.toLowerCase()) ? name.toLowerCase() : undefined
  return { pipeId, fileId, name }
}

export function uploadAddress(uploadUrl: string, pipeId: string, fileId: string): string {
  return `${uploadUrl}/pipes/${pipeId}/files/${fileId}`
}
