import { expect, it } from 'vitest'
import { openApiDocument } from './open-api-document.ts'
import { OPERATIONS } from './operations.ts'

type Document = {
  tags: { name: string; description?: string }[]
  paths: Record<string, Record<string, { operationId: string; responses: Record<string, Response> }>>
}
type Response = { links?: Record<string, { operationId: string; parameters: { id: string } }> }

const document = openApiDocument(OPERATIONS, 'http://localhost:3000') as Document
const linksOf = (operationId: string) => {
  const all = Object.values(document.paths).flatMap((methods) => Object.values(methods))
  const found = all.find((operation) => operation.operationId === operationId)!
  return Object.values(found.responses).find(({ links }) => links)?.links ?? {}
}

it('describes each tag', () => {
  for (const { name, description } of document.tags) expect(description, name).toMatch(/\.$/)
})

it.each(['Pipe', 'DataStore'])('links a new %s to the operations that show, change and delete it', (noun) => {
  const links = linksOf(`create${noun}`)
  expect(Object.keys(links)).toEqual(
    expect.arrayContaining([`show${noun}`, `update${noun}`, `delete${noun}`]),
  )
  expect(links[`show${noun}`]!.parameters).toEqual({ id: '$response.body#/id' })
})

it('links references to the referenced resource', () => {
  expect(linksOf('showPipe').showDataStore!.parameters).toEqual({ id: '$response.body#/dataStoreId' })
  expect(linksOf('showFile').showPipe!.parameters).toEqual({ id: '$response.body#/pipeId' })
})
