import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { DocPage } from '#app/(site)/docs/pages.ts'
import { readDoc } from '#app/(site)/docs/read-doc.ts'
import { codeOf, readMarkdown } from '#app/(site)/docs/read-markdown.ts'

type Addresses = { baseUrl: string; uploadUrl: string; pipeId: string }

/** Below this heading, a guide shows the replacement files that need no packages in the backend. */
const BARE_PART = 'With Uppy'

/**
 * Writes the files that a guide shows to the paths that it names, verbatim except for the Pipe's id. Returns those
 * paths.
 */
export async function writeGuide(
  slug: DocPage['slug'],
  folder: string,
  { isBare, ...to }: Addresses & { isBare: boolean },
): Promise<string[]> {
  const all = readMarkdown(await readDoc(slug, to))
  const bare = all.findIndex((token) => token.type === 'heading' && token.text === BARE_PART)
  if (isBare && bare === -1) throw new Error(`${slug} has no section "${BARE_PART}".`)
  const shown = all.slice(0, isBare || bare === -1 ? undefined : bare).flatMap((token) => {
    if (token.type !== 'code') return []
    const { file, code } = codeOf(token)
    return file ? [{ file, code }] : []
  })
  for (const { file, code } of shown) write(folder, file, `${code.replaceAll('<pipe_id>', to.pipeId)}\n`)
  // This repository's packages stand in for those that the guide tells readers to install.
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  symlinkSync(resolve('packages/go'), join(folder, 'sluice'))
  return [...new Set(shown.map(({ file }) => file))]
}

export function write(folder: string, file: string, text: string): void {
  mkdirSync(join(folder, dirname(file)), { recursive: true })
  writeFileSync(join(folder, file), text)
}
