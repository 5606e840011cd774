import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { OPERATIONS } from '../operations.ts'
import { callSnippets } from './call-snippets.ts'
import { exampleOf } from './example-of.ts'

describe.each(OPERATIONS.map((operation) => [operation.id, operation] as const))('%s', (_, operation) => {
  const { curl, typescript, answer } = callSnippets(operation, 'https://sluice.example.com')

  it('has a TypeScript call that compiles', () => {
    const source = `export async function call() {\n${typescript}\n}`
    const { diagnostics } = ts.transpileModule(source, { reportDiagnostics: true })
    expect(diagnostics?.map(({ messageText }) => messageText)).toEqual([])
    expect(typescript).toContain('https://sluice.example.com/api/v1/')
    expect(typescript).not.toContain('{id}')
  })

  it('has a curl call with the method and the body', () => {
    expect(curl).toContain('https://sluice.example.com/api/v1/')
    if (operation.method !== 'GET') expect(curl).toContain(`-X ${operation.method}`)
  })

  it('has examples that match its own schemas', () => {
    const { body } = operation
    if (body) expect(body.safeParse(exampleOf(body, 'input')).error?.issues).toBeUndefined()
    if (operation.answer) expect(JSON.parse(answer!)).toEqual(exampleOf(operation.answer, 'output'))
    else expect(answer).toBeUndefined()
  })
})
