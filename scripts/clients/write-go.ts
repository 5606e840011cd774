import { writeFileSync } from 'node:fs'
import type { Api, Field, Operation, Shape, Type } from './api-model.ts'

/** Writes the part of the Go client that mirrors the API: its types, and a method for each operation. */
const FILE = 'api.go'

export function writeGo({ types, operations, events }: Api): void {
  const queries = operations.filter(({ query }) => query.length > 0).map(queryTypeOf)
  const structs = [...types, ...queries].map(structOf)
  const methods = operations.map(methodOf)
  const cases = events.map(({ kind, type }) => {
    const data = types.find(({ name }) => name === type)!.fields.find(({ name }) => name === 'data')!
    return `\tcase "${kind}":\n\t\treturn new(${plainType(data.shape)})\n`
  })
  const text = `// Code generated from the API's description; DO NOT EDIT.

package sluice

import (
	"context"
	"iter"
	"net/url"
	"time"
)

${structs.join('\n')}
// eventData returns a pointer to the data of this kind of event, or nil.
func eventData(kind string) any {
	switch kind {
${cases.join('')}	}
	return nil
}

${methods.join('\n')}`
  writeFileSync(FILE, text)
}

const queryName = ({ name }: Operation) => `${exported(name)}Query`

function queryTypeOf(operation: Operation): Type {
  return { name: queryName(operation), about: 'Zero values are left out.', fields: operation.query }
}

function structOf({ name, about, fields }: Type): string {
  const rows = fields.map((field) => {
    const { type, isOmitted } = fieldType(field)
    return [exported(field.name), type, `\`json:"${field.name}${isOmitted ? ',omitzero' : ''}"\``] as const
  })
  const width = (column: 0 | 1) => Math.max(...rows.map((row) => row[column].length))
  const lines = rows.map((row) => `\t${row[0].padEnd(width(0))} ${row[1].padEnd(width(1))} ${row[2]}\n`)
  const doc = about ? [`// ${name}: ${about}\n`] : []
  return `${doc.join('')}type ${name} struct {${lines.length > 0 ? `\n${lines.join('')}` : ''}}\n`
}

/** An optional field is a pointer if its zero value is valid, and Nullable if it can also be null. */
function fieldType({ shape, optional, zeroCounts }: Field): { type: string; isOmitted: boolean } {
  const type = plainType(shape)
  const isReference = /^(\[\]|map\[|any$)/.test(type)
  if (optional && zeroCounts && shape.kind === 'nullable')
    return { type: `Nullable[${type}]`, isOmitted: true }
  const isPointer = !isReference && (optional ? zeroCounts : shape.kind === 'nullable')
  return { type: isPointer ? `*${type}` : type, isOmitted: optional }
}

function plainType(shape: Shape): string {
  switch (shape.kind) {
    case 'enum':
      return typeof shape.values[0] === 'number' ? 'int64' : 'string'
    case 'list':
      return `[]${plainType(shape.of)}`
    case 'map':
      return `map[string]${plainType(shape.of)}`
    case 'nullable':
      return plainType(shape.of)
    case 'named':
      return shape.name
    default:
      return SCALARS[shape.kind]
  }
}

const SCALARS = {
  string: 'string',
  instant: 'time.Time',
  integer: 'int64',
  number: 'float64',
  boolean: 'bool',
  any: 'any',
}

function methodOf(operation: Operation): string {
  const { name, about, method, path, params, body, query, answer, items, key, isIdempotent } = operation
  const given = [
    'ctx context.Context',
    ...params.map((param) => `${param} string`),
    ...(body ? [`fields ${body.type}`] : []),
    ...(query.length > 0 ? [`query ${queryName(operation)}`] : []),
    ...(isIdempotent ? ['options ...CallOption'] : []),
  ]
  const asked = query.map((field) => `"${field.name}", query.${exported(field.name)}`)
  const address = `"${path}"`.replace(/\{(\w+)\}/g, '" + url.PathEscape($1) + "').replace(/ \+ ""$/, '')
  const doc = `// ${exported(name)}: ${about}\nfunc (c *Client) ${exported(name)}(${given.join(', ')})`
  if (items) {
    const item = plainType(items)
    return `${doc} iter.Seq2[${item}, error] {
	return items[${item}](ctx, c, request{key: "${key}", path: ${address}, query: queryOf(${asked.join(', ')})})
}
`
  }
  const asks = [
    ...(key ? [`key: "${key}"`] : []),
    `method: "${method}"`,
    `path: ${address}`,
    ...(body ? ['body: fields'] : []),
    ...(asked.length > 0 ? [`query: queryOf(${asked.join(', ')})`] : []),
    ...(isIdempotent ? ['options: options'] : []),
  ]
  const request = `request{${asks.join(', ')}}`
  const result = answer ? plainType(answer) : ''
  if (!answer) return `${doc} error {\n\t_, err := c.send(ctx, ${request})\n\treturn err\n}\n`
  return `${doc} (*${result}, error) {\n\treturn call[${result}](ctx, c, ${request})\n}\n`
}

const INITIALISMS = /(Id|Url|Api|Http|Sftp|Ftp|Ip|Sse|Json)(?=[A-Z_]|$)/g

function exported(name: string): string {
  const pascal = name.replace(/(^|[_-])([a-z])/g, (_, __, letter: string) => letter.toUpperCase())
  return pascal.replace(INITIALISMS, (word) => word.toUpperCase())
}
