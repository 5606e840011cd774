import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

export type Snippet = { language: string; filename: string; code: string }

const SNIPPETS = [
  { language: 'Node', filename: 'node.mjs' },
  { language: 'Python', filename: 'python.py' },
  { language: 'Go', filename: 'go.go' },
  { language: 'PHP', filename: 'php.php' },
  { language: 'Ruby', filename: 'ruby.rb' },
]

/**
 * The code that receivers use to verify webhooks. Tests run the same files. Next bundles modules, so paths are relative
 * to the working directory.
 */
export function verificationSnippets(root = process.cwd()): Promise<Snippet[]> {
  const folder = join(root, 'lib/webhooks/signature/snippets')
  return Promise.all(
    SNIPPETS.map(async (snippet) => ({
      ...snippet,
      code: await readFile(join(folder, snippet.filename), 'utf8'),
    })),
  )
}
