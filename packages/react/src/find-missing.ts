import type { FileUpload } from './file-upload.ts'

export type Known = { upload: FileUpload; lastModified: number }

/**
 * What waits for this file to be picked again. Folders hold files of one name, size and time, so their paths count, unless it was picked
 * without its folder and only one is meant.
 */
export function findMissing<Entry extends Known>(entries: readonly Entry[], file: File): Entry | undefined {
  const alike = entries.filter(
    ({ upload: { state, name, size }, lastModified }) =>
      state === 'missing' && name === file.name && size === file.size && lastModified === file.lastModified,
  )
  const path = file.webkitRelativePath || undefined
  const same = alike.find(({ upload }) => upload.path === path)
  return same ?? (path === undefined && alike.length === 1 ? alike[0] : undefined)
}
