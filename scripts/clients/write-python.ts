import { writeFileSync } from 'node:fs'
import type { Api, Field, Operation, Shape, Type } from './api-model.ts'

/** Writes the part of the Python client that mirrors the API: its types, and a method for each operation. */
const FILE = 'src/sluice/api.py'

const HEAD = `"""The API's types and operations. Generated from its description: do not edit."""
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterator, Literal, Mapping, TypedDict, Union
from urllib.parse import quote

if TYPE_CHECKING:
    from typing_extensions import NotRequired
`

const OPERATIONS = `class Operations:
    """A method for each operation of the API, named as in the reference."""

    def _call(
        self, key: str, method: str, path: str, body: Mapping[str, Any] | None = None, *,
        query: Mapping[str, Any] | None = None, idempotency_key: str | None = None,
    ) -> Any:
        raise NotImplementedError

    def _items(self, key: str, path: str, query: Mapping[str, Any]) -> Iterator[Any]:
        """Every item of every page."""
        cursor = None
        while True:
            page = self._call(key, "GET", path, query={**query, "cursor": cursor})
            yield from page["data"]
            cursor = page.get("nextCursor")
            if cursor is None:
                return
`

/** Names that cannot be attributes in a class. */
const KEYWORDS = new Set(['import', 'from', 'class', 'global', 'pass', 'in', 'is', 'as', 'with'])

export function writePython({ types, operations, events }: Api): void {
  const classes = types.map(classOf).join('\n\n')
  const union = `SluiceEvent = Union[${events.map(({ type }) => type).join(', ')}]`
  const methods = operations.map(methodOf).join('\n')
  writeFileSync(FILE, `${HEAD}\n\n${classes}\n\n${union}\n\n\n${OPERATIONS}\n${methods}`)
}

function classOf({ name, about, fields }: Type): string {
  const all = fields.map((field) => [field.name, annotationOf(field)] as const)
  if (fields.some((field) => KEYWORDS.has(field.name)))
    return `${name} = TypedDict("${name}", {\n${all.map(([key, type]) => `    "${key}": ${JSON.stringify(type)},\n`).join('')}})\n`
  const doc = about ? [`    """${about}"""\n`] : []
  const body = [...doc, ...all.map(([key, type]) => `    ${key}: ${type}\n`)].join('')
  return `class ${name}(TypedDict):\n${body || '    pass\n'}`
}

function annotationOf({ shape, optional }: Field): string {
  return optional ? `NotRequired[${typeOf(shape)}]` : typeOf(shape)
}

function typeOf(shape: Shape): string {
  switch (shape.kind) {
    case 'enum':
      return `Literal[${shape.values.map((value) => JSON.stringify(value)).join(', ')}]`
    case 'list':
      return `list[${typeOf(shape.of)}]`
    case 'map':
      return `dict[str, ${typeOf(shape.of)}]`
    case 'nullable':
      return `${typeOf(shape.of)} | None`
    case 'named':
      return shape.name
    default:
      return SCALARS[shape.kind]
  }
}

const SCALARS = {
  string: 'str',
  instant: 'str',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
  any: 'Any',
}

function methodOf(operation: Operation): string {
  const { name, about, method, params, body, query, answer, items, key, isIdempotent } = operation
  const path = `f"${operation.path.replace(/\{(\w+)\}/g, (_, param: string) => `{quote(${snake(param)}, safe='')}`)}"`
  const keywords = [
    ...query.map((field) => `${snake(field.name)}: ${typeOf(field.shape)} | None = None`),
    ...(isIdempotent ? ['idempotency_key: str | None = None'] : []),
  ]
  const given = [
    'self',
    ...params.map((param) => `${snake(param)}: str`),
    ...(body ? [`fields: ${body.type}${body.optional ? ' | None = None' : ''}`] : []),
    ...(keywords.length > 0 ? ['*', ...keywords] : []),
  ]
  const asked = `{${query.map((field) => `"${field.name}": ${snake(field.name)}`).join(', ')}}`
  const passed = items
    ? [`"${key}"`, path, asked]
    : [
        `"${key ?? ''}"`,
        `"${method}"`,
        path,
        ...(body ? [body.optional ? 'fields or {}' : 'fields'] : []),
        ...(query.length > 0 ? [`query=${asked}`] : []),
        ...(isIdempotent ? ['idempotency_key=idempotency_key'] : []),
      ]
  const result = items ? `Iterator[${typeOf(items)}]` : answer ? typeOf(answer) : 'None'
  const call = `self.${items ? '_items' : '_call'}(${passed.join(', ')})`
  return `    def ${snake(name)}(${given.join(', ')}) -> ${result}:
        """${about}"""
        ${result === 'None' ? '' : 'return '}${call}
`
}

const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
