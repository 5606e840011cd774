import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'

/**
 * Reads a secret from standard input, without its last line break, or prompts for it without echo. Secrets are not
 * arguments, because everyone on the machine can read a process's arguments.
 */
export async function readSecret(question: string): Promise<string> {
  if (!process.stdin.isTTY) {
    let text = ''
    for await (const chunk of process.stdin.setEncoding('utf8')) text += chunk
    return text.replace(/\r?\n$/, '')
  }
  process.stderr.write(question)
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: process.stdin, output: nowhere, terminal: true })
  const answer = await lines.question('')
  lines.close()
  process.stderr.write('\n')
  return answer
}
