import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A package of the kit, packed by the build. Its name has a part of its digest, so that its bytes never change. */
export type KitFile = { name: string; version: string; file: string; integrity: string; bytes: number }

/** Next bundles modules, so the place is by the working directory. */
const FOLDER = '.kit'

export const kitPath = (file: string): string => join(process.cwd(), FOLDER, file)

/** A process serves one build for as long as it lives. */
let files: KitFile[] | undefined

export function kitFiles(): KitFile[] {
  files ??= JSON.parse(readFileSync(kitPath('kit.json'), 'utf8')) as KitFile[]
  return files
}

export const kitUrl = (baseUrl: string, { file }: KitFile): string => `${baseUrl}/kit/${file}`

/** What installs these packages, by address, since the names on npm are not ours. */
export function installKit(baseUrl: string, ...names: string[]): string {
  const urls = names.map((name) => kitUrl(baseUrl, kitFiles().find((file) => file.name === name)!))
  return ['npm install', ...urls].join(' \\\n  ')
}
