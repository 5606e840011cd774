import { realpath } from 'node:fs/promises'
import { dirname, sep } from 'node:path'

/** True where a symlink on the way takes a path of the bucket out of its folder. */
export async function leadsOut(directory: string, path: string): Promise<boolean> {
  const [folder, real] = await Promise.all([realpath(directory), realOf(path)])
  return real !== folder && !real.startsWith(folder + sep)
}

/** Of what there is of it: a file that is yet to be made is where its folder is. */
async function realOf(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch (error) {
    if (!['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
    return realOf(dirname(path))
  }
}
