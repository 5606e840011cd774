import { expect, it } from 'vitest'
import { droppedFiles, MAX_FILES } from './dropped-files.ts'

const fileEntry = (path: string) => ({
  isFile: true,
  fullPath: path,
  file: (take: (file: File) => void) => take(new File(['x'], path.split('/').at(-1)!)),
})
const folderEntry = (path: string, inside: object[]) => ({
  isFile: false,
  fullPath: path,
  createReader: () => ({ readEntries: (take: (some: object[]) => void) => take(inside.splice(0, 100)) }),
})
const dropOf = (entry: object) =>
  ({ items: [{ webkitGetAsEntry: () => entry }], files: [] }) as unknown as DataTransfer
const folderOf = (count: number) =>
  folderEntry(
    '/trip',
    Array.from({ length: count }, (_, n) => fileEntry(`/trip/${n}.txt`)),
  )

it('accepts files up to the limit, and reports only if there were more', async () => {
  const most = await droppedFiles(dropOf(folderOf(MAX_FILES)))
  expect([most.files.length, most.hasMore]).toEqual([MAX_FILES, false])
  const more = await droppedFiles(dropOf(folderOf(MAX_FILES + 1)))
  expect([more.files.length, more.hasMore]).toEqual([MAX_FILES, true])
})

it('lists unreadable files and folders, and accepts the rest', async () => {
  const refuse = (_: unknown, refused: (error: Error) => void) =>
    refused(new DOMException('', 'NotReadableError'))
  const locked = { isFile: true, fullPath: '/trip/locked.txt', file: refuse }
  const closed = { isFile: false, fullPath: '/trip/closed', createReader: () => ({ readEntries: refuse }) }
  const found = await droppedFiles(dropOf(folderEntry('/trip', [locked, closed, fileEntry('/trip/a.txt')])))
  expect(found.files.map(({ name }) => name)).toEqual(['a.txt'])
  expect(found.unreadable).toEqual([
    { name: 'locked.txt', path: 'trip/locked.txt' },
    { name: 'closed', path: 'trip/closed' },
  ])
})
