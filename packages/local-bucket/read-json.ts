import { readFile } from 'node:fs/promises'

/** Undefined if there is no such file. Every other trouble is thrown: it does not mean that nothing is there. */
export async function readJson<T>(path: string): Promise<T | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as T
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
