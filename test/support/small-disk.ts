import { spawnSync } from 'node:child_process'
import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from './sluice.ts'

const MiB = 1024 * 1024

/** A file system of its own, small enough to be filled. Undefined if this user may not mount one. */
export function mountSmallDisk(sizeMib: number) {
  const folder = temporaryFolder()
  const options = `size=${sizeMib}m`
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'none', folder.path]).status === 0
  if (!mounted) {
    folder[Symbol.dispose]()
    return undefined
  }
  const filler = join(folder.path, 'filler')
  return {
    path: folder.path,
    fill: () => fill(filler),
    free: () => rmSync(filler),
    [Symbol.dispose]() {
      // Unmounts lazily, since a server still uses it if the test has failed.
      spawnSync('umount', ['-l', folder.path])
      folder[Symbol.dispose]()
    },
  }
}

/** Writes until the disk is full. */
function fill(file: string): void {
  const handle = openSync(file, 'w')
  try {
    for (let bytes = MiB; bytes > 0; ) {
      try {
        bytes = writeSync(handle, Buffer.alloc(bytes)) < bytes ? 0 : bytes
      } catch {
        bytes = Math.floor(bytes / 2)
      }
    }
  } finally {
    closeSync(handle)
  }
}
