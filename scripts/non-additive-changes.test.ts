import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { type Json, nonAdditiveChanges } from './non-additive-changes.ts'

const landed = readFileSync('packages/node/openapi.json', 'utf8')
// biome-ignore lint/suspicious/noExplicitAny: to reach deep into the document
type Any = any

function changed(change: (document: Any) => void): string[] {
  const document: Any = JSON.parse(landed)
  change(document)
  return nonAdditiveChanges(JSON.parse(landed) as Json, document)
}

const input = (document: Any) => document.paths['/pipes'].post.requestBody.content['application/json'].schema
const output = (document: Any) =>
  document.paths['/files/{id}'].get.responses[200].content['application/json'].schema
const query = (document: Any, name: string) =>
  document.paths['/files'].get.parameters.find((one: Any) => one.name === name)

const BREAKING: [string, (document: Any) => void, string][] = [
  ['an operation is removed', (d) => delete d.paths['/pipes'].post, 'POST /pipes is gone'],
  ['a path is removed', (d) => delete d.paths['/usage'], 'GET /usage is gone'],
  ['an operationId changes', (d) => (d.paths['/usage'].get.operationId = 'x'), 'different operationId'],
  [
    'credentials change',
    (d) => (d.paths['/usage'].get.security = [{ senderToken: [] }]),
    'different credentials',
  ],
  [
    'a success response changes',
    (d) => (d.paths['/pipes'].post.responses = { 200: {} }),
    'no longer returns 201',
  ],
  ['a field is required', (d) => input(d).required.push('keyTemplate'), 'keyTemplate is required now'],
  ['a field is no longer accepted', (d) => delete input(d).properties.keyTemplate, 'keyTemplate is gone'],
  ['a field is shorter', (d) => (input(d).properties.name.maxLength = 3), 'name has a different maxLength'],
  ['a field has a pattern', (d) => (input(d).properties.name.pattern = 'x'), 'name has a different pattern'],
  [
    'a field has another type',
    (d) => (input(d).properties.name = { type: 'number' }),
    'has a different type',
  ],
  ['a parameter is removed', (d) => (query(d, 'status').name = 'state'), 'no longer accepts status'],
  ['a parameter is required', (d) => (query(d, 'limit').required = true), 'requires limit'],
  ['a default changes', (d) => (query(d, 'limit').schema.default = 7), 'different default'],
  ['a limit shrinks', (d) => (query(d, 'limit').schema.maximum = 50), 'different maximum'],
  ['a response field is removed', (d) => delete output(d).properties.size, 'size is gone'],
  ['a response field may be missing', (d) => output(d).required.shift(), 'may be missing now'],
  [
    'a response field may be null',
    (d) => (output(d).properties.id = { anyOf: [{ type: 'string' }, { type: 'null' }] }),
    'a different kind of value',
  ],
  ['a status is removed', (d) => output(d).properties.status.enum.shift(), 'no longer has'],
  [
    'a webhook field is removed',
    (d) => delete d.components.schemas.FileStatusChanged.properties.data.properties.file_id,
    'file_id is gone',
  ],
  ['a code is removed', (d) => d.components.schemas.ErrorCode.enum.pop(), 'no longer has unavailable'],
]

it.each(BREAKING)('finds that %s', (_, change, told) => {
  expect(changed(change)).toEqual([expect.stringContaining(told)])
})

it.each([
  ['nothing', () => {}],
  ['a new operation', (d) => (d.paths['/x'] = { get: { operationId: 'x' } })],
  ['a new optional field', (d) => (input(d).properties.note = { type: 'string', maxLength: 9 })],
  ['a new optional parameter', (d) => d.paths['/files'].get.parameters.push({ name: 'x', in: 'query' })],
  ['a field that is now optional', (d) => input(d).required.shift()],
  ['a longer field', (d) => (input(d).properties.name.maxLength = 9999)],
  ['another response field', (d) => (output(d).properties.note = { type: 'string' })],
  ['another status', (d) => output(d).properties.status.enum.push('partially_transferred')],
  [
    'a field that may also be null',
    (d) => (input(d).properties.name = { anyOf: [input(d).properties.name, { type: 'null' }] }),
  ],
  ['different descriptions', (d) => (d.paths['/pipes'].post.summary = 'Make a Pipe.')],
  ['one error fewer', (d) => delete d.paths['/pipes'].post.responses[429]],
] as [string, (document: Any) => void][])('accepts %s', (_, change) => {
  expect(changed(change)).toEqual([])
})
