import type { Operation } from '../operation.ts'
import { exampleOf, PATH_EXAMPLE } from './example-of.ts'

const KEYS = { actor: 'SLUICE_ACCOUNT_KEY', sender: 'SLUICE_SENDER_TOKEN', nobody: undefined } as const

export type CallSnippets = { curl: string; typescript: string; answer: string | undefined }

/** An operation's request and response, ready to copy. */
export function callSnippets(operation: Operation, baseUrl: string): CallSnippets {
  const { method, path, auth, body, answer } = operation
  const url = `${baseUrl}/api/v1${path.replace(/\{(\w+)\}/g, (_, name) => PATH_EXAMPLE(path, name))}`
  const sent = body && JSON.stringify(exampleOf(body, 'input'), null, 2)
  const key = KEYS[auth]
  return {
    curl: curl({ method, url, key, sent }),
    typescript: typescript({ method, url, key, sent, answers: Boolean(answer) }),
    answer: answer && JSON.stringify(exampleOf(answer, 'output'), null, 2),
  }
}

type Call = { method: string; url: string; key: string | undefined; sent: string | undefined }

function curl({ method, url, key, sent }: Call): string {
  const parts = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}${url}`,
    key && `-H "Authorization: Bearer $${key}"`,
    sent && `-H 'Content-Type: application/json'`,
    sent && `-d '${sent}'`,
  ]
  return parts.filter(Boolean).join(' \\\n  ')
}

function typescript({ method, url, key, sent, answers }: Call & { answers: boolean }): string {
  const headers = [
    key && `Authorization: \`Bearer \${process.env.${key}}\``,
    sent && `'Content-Type': 'application/json'`,
  ].filter(Boolean)
  const options = [
    method !== 'GET' && `  method: '${method}',`,
    headers.length > 0 && `  headers: { ${headers.join(', ')} },`,
    sent && `  body: JSON.stringify(${sent.replace(/"(\w+)":/g, '$1:').replaceAll('\n', '\n  ')}),`,
  ].filter(Boolean)
  const call = options.length > 0 ? `fetch('${url}', {\n${options.join('\n')}\n})` : `fetch('${url}')`
  return [
    `const response = await ${call}`,
    'if (!response.ok) throw new Error((await response.json()).detail)',
    answers && 'const answer = await response.json()',
  ]
    .filter(Boolean)
    .join('\n')
}
