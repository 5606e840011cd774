import { readFileSync } from 'node:fs'

/**
 * The API description as the clients for Python and Go see it: named types and operations. Both are generated from
 * `packages/node/openapi.json`, like the client for Node.
 */
export type Shape =
  | { kind: 'string' | 'instant' | 'integer' | 'number' | 'boolean' | 'any' }
  | { kind: 'enum'; values: (string | number)[] }
  | { kind: 'list' | 'map' | 'nullable'; of: Shape }
  | { kind: 'named'; name: string }
export type Field = {
  name: string
  shape: Shape
  optional: boolean
  /** Whether the field's zero value is valid, and differs from leaving it out. */
  zeroCounts: boolean
}
export type Type = { name: string; about?: string; fields: Field[] }
export type Operation = {
  name: string
  about: string
  method: string
  /** With parameters in braces. */
  path: string
  params: string[]
  query: Field[]
  body?: { type: string; optional: boolean }
  answer?: Shape
  /** The items of a list, which may have several pages. */
  items?: Shape
  key?: 'senderToken' | 'accountKey'
  isIdempotent: boolean
}
/** Events are told apart by their `event` field. */
export type Api = { types: Type[]; operations: Operation[]; events: { kind: string; type: string }[] }

type Schema = {
  $ref?: string
  type?: string | string[]
  format?: string
  title?: string
  description?: string
  const?: string | number
  enum?: (string | number)[]
  minimum?: number
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  additionalProperties?: Schema | boolean
  anyOf?: Schema[]
  oneOf?: Schema[]
}
type Described = {
  operationId: string
  summary: string
  security?: Record<string, unknown>[]
  parameters?: { name: string; in: string; schema: Schema }[]
  requestBody?: { required: boolean; content: Record<string, { schema: Schema }> }
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>
}
type Document = {
  paths: Record<string, Record<string, Described>>
  components: { schemas: Record<string, Schema> }
}

const JSON_TYPE = 'application/json'
/** A stream of events needs a client of its own. */
const LEFT_OUT = ['streamEvents']

/** Relative to a client's folder. */
const FILE = '../node/openapi.json'

export function readApi(): Api {
  const document: Document = JSON.parse(readFileSync(FILE, 'utf8'))
  const naming = new Naming()
  for (const [name, schema] of Object.entries(document.components.schemas)) naming.define(name, schema)
  const described = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )
  // The types of single things and of those in lists come first, so that others with the same fields share their names.
  for (const verb of ['show', 'list'])
    for (const { operation } of described)
      if (operation.operationId.startsWith(verb)) answerOf(operation, naming)
  const operations = described
    .filter(({ operation }) => !LEFT_OUT.includes(operation.operationId))
    .map(({ path, method, operation }) => toOperation(path, method, operation, naming))
  const types = naming.types()
  const events = types.flatMap(({ name, fields }) => {
    const { shape } = fields.find((field) => field.name === 'event') ?? {}
    const isEvent = shape?.kind === 'enum' && fields.some((field) => field.name === 'data')
    return isEvent ? [{ kind: String(shape.values[0]), type: name }] : []
  })
  return { types, operations, events }
}

function toOperation(path: string, method: string, described: Described, naming: Naming): Operation {
  const { operationId: name, summary, parameters = [], requestBody, security = [] } = described
  const fields = requestBody?.content[JSON_TYPE]?.schema
  const answer = answerOf(described, naming)
  const key = Object.keys(security[0] ?? {})[0] as Operation['key']
  return {
    name,
    about: summary,
    method: method.toUpperCase(),
    path,
    params: parameters.filter((parameter) => parameter.in === 'path').map((parameter) => parameter.name),
    query: parameters
      .filter((parameter) => parameter.in === 'query' && parameter.name !== 'cursor')
      .map((parameter) => ({
        name: parameter.name,
        shape: naming.shapeOf(parameter.schema, ''),
        optional: true,
        zeroCounts: false,
      })),
    ...(fields && {
      body: {
        type: naming.define(`${pascal(name)}Fields`, fields, method === 'post'),
        optional: (fields.required ?? []).length === 0,
      },
    }),
    ...(answer && (isList(described) ? { items: answer } : { answer })),
    ...(key && { key }),
    isIdempotent: method === 'post',
  }
}

const isList = ({ operationId }: Described) => operationId.startsWith('list')

/** Of a list, its items. */
function answerOf(described: Described, naming: Naming): Shape | undefined {
  const { operationId, responses } = described
  const success = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1]
  const schema = success?.content?.[JSON_TYPE]?.schema
  const shown = isList(described) ? schema?.properties?.data?.items : schema
  return shown && naming.shapeOf(shown, nameOfAnswer(operationId))
}

function nameOfAnswer(operation: string): string {
  if (operation.startsWith('show')) return operation.slice('show'.length)
  if (operation.startsWith('list')) return `Listed${singular(operation.slice('list'.length))}`
  return `${pascal(operation)}Result`
}

const pascal = (name: string) =>
  name.replace(/(^|[_-])([a-z])/g, (_, __, letter: string) => letter.toUpperCase())

function singular(name: string): string {
  return name.endsWith('ies') ? `${name.slice(0, -3)}y` : name.replace(/(?<!s)s$/, '')
}

/** Gives each object a name: that of the first type with the same fields, or one from its place. */
class Naming {
  readonly #byName = new Map<string, Type>()
  readonly #byFields = new Map<string, string>()

  types(): Type[] {
    return [...this.#byName.values()]
  }

  /** Names the object, even if another one has the same fields. `isNew`: its fields describe something new. */
  define(name: string, schema: Schema, isNew = false): string {
    const fields = this.#fieldsOf(name, merged(schema), isNew)
    if (fields.length === 0 && schema.enum) return name
    const key = keyOf(fields)
    if (!isNew && !this.#byFields.has(key)) this.#byFields.set(key, name)
    const about = schema.description
    this.#byName.set(name, { name, ...(about && { about }), fields })
    return name
  }

  shapeOf(schema: Schema, place: string, isNew = false): Shape {
    const { $ref, type, format, items, additionalProperties } = schema
    if ($ref) return { kind: 'named', name: $ref.split('/').at(-1)! }
    const variants = schema.anyOf ?? schema.oneOf
    if (variants || Array.isArray(type)) {
      const all = variants ?? (type as string[]).map((one) => ({ ...schema, type: one }))
      const some = all.filter((one) => one.type !== 'null')
      const shape = this.#shapeOfVariants(some, place, isNew)
      return some.length < all.length && shape.kind !== 'any' ? { kind: 'nullable', of: shape } : shape
    }
    if (type !== 'boolean' && valuesOf(schema).length > 0) return { kind: 'enum', values: valuesOf(schema) }
    if (type === 'array') return { kind: 'list', of: this.shapeOf(items ?? {}, singular(place), isNew) }
    if (type === 'object' && schema.properties) return this.#named(place, schema, isNew)
    if (type === 'object')
      return { kind: 'map', of: this.shapeOf(schemaOf(additionalProperties), singular(place), isNew) }
    if (type === 'string' && format === 'date-time') return { kind: 'instant' }
    return type === undefined ? { kind: 'any' } : { kind: type as 'string' }
  }

  #shapeOfVariants(variants: Schema[], place: string, isNew: boolean): Shape {
    if (variants.length === 1) return this.shapeOf(variants[0]!, place, isNew)
    if (variants.every((one) => one.properties)) return this.#named(place, merged({ anyOf: variants }), isNew)
    const shapes = variants.map((one) => this.shapeOf(one, place, isNew))
    const values = shapes.flatMap((shape) => (shape.kind === 'enum' ? shape.values : []))
    return shapes.every((shape) => shape.kind === 'enum') ? { kind: 'enum', values } : { kind: 'any' }
  }

  #named(place: string, schema: Schema, isNew: boolean): Shape {
    const known = this.#byFields.get(keyOf(this.#fieldsOf(place, schema, isNew)))
    const name = known ?? place
    if (!known && this.#byName.has(name)) throw new Error(`Two different types would be named ${name}.`)
    if (!known) {
      this.#byFields.set(keyOf(this.#fieldsOf(place, schema, isNew)), name)
      this.define(name, schema, isNew)
    }
    return { kind: 'named', name }
  }

  #fieldsOf(place: string, { properties = {}, required = [] }: Schema, isNew: boolean): Field[] {
    return Object.entries(properties).map(([name, schema]) => {
      const shape = this.shapeOf(schema, `${place}${pascal(name)}`, isNew)
      const optional = !required.includes(name)
      // In a new thing, `null` is the same as leaving a field out.
      const isPlain = shape.kind === 'nullable' ? shape.of.kind : shape.kind
      const hasNoZero = ['string', 'instant', 'enum'].includes(isPlain) || (minimumOf(schema) ?? 0) > 0
      return { name, shape, optional, zeroCounts: !(isNew && hasNoZero) }
    })
  }
}

const keyOf = (fields: Field[]) => JSON.stringify(fields)

const schemaOf = (given: Schema | boolean | undefined): Schema => (typeof given === 'object' ? given : {})

const minimumOf = ({ minimum, anyOf }: Schema) => minimum ?? anyOf?.find((one) => one.minimum)?.minimum

/** An object with the fields of all variants, of which those that not all of them have are optional. */
function merged(schema: Schema): Schema {
  const variants = schema.anyOf ?? schema.oneOf
  if (!variants) return schema
  const properties: Record<string, Schema> = {}
  for (const [name, one] of variants.flatMap((variant) => Object.entries(variant.properties ?? {}))) {
    const before = properties[name]
    const values = [...valuesOf(before), ...valuesOf(one)]
    properties[name] = values.length > 0 ? { ...one, enum: [...new Set(values)] } : one
  }
  const isCommon = (name: string) => variants.every(({ required = [] }) => required.includes(name))
  const { description } = schema
  return {
    type: 'object',
    properties,
    required: Object.keys(properties).filter(isCommon),
    ...(description && { description }),
  }
}

const valuesOf = (schema?: Schema) => schema?.enum ?? (schema?.const === undefined ? [] : [schema.const])
