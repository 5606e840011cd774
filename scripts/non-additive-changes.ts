/**
 * Finds changes to the API that would break its users. Everything that they send today must still be accepted, and
 * everything that they read today must still exist: input may only get wider, and output may only gain fields.
 */
export type Json = { [key: string]: Json | Json[] | string | number | boolean | null | undefined }
type Way = 'in' | 'out'

export function nonAdditiveChanges(before: Json, after: Json): string[] {
  const schemas = (document: Json) => object(object(document.components).schemas)
  return [
    ...pairs(object(before.paths), object(after.paths)).flatMap(([path, old, now]) =>
      pairs(old, object(now)).flatMap(([method, was, is]) =>
        operationChanges(`${method.toUpperCase()} ${path}`, was, is),
      ),
    ),
    ...pairs(schemas(before), schemas(after)).flatMap(([name, was, is]) =>
      is ? schemaChanges('out', name, was, is) : [`${name} is gone`],
    ),
  ]
}

function operationChanges(at: string, was: Json, is: Json | undefined): string[] {
  if (!is) return [`${at} is gone`]
  return [
    ...(same(was.security, is.security) ? [] : [`${at} requires different credentials`]),
    ...(same(was.operationId, is.operationId) ? [] : [`${at} has a different operationId`]),
    ...parameterChanges(at, was, is),
    ...bodyChanges(at, object(was.requestBody), object(is.requestBody)),
    ...answerChanges(at, object(was.responses), object(is.responses)),
  ]
}

function parameterChanges(at: string, was: Json, is: Json): string[] {
  const byName = (operation: Json) =>
    Object.fromEntries(list(operation.parameters).map((one) => [`${one.name} (${one.in})`, one]))
  const [old, now] = [byName(was), byName(is)]
  const added = Object.keys(now).filter((name) => !old[name] && now[name]!.required)
  return [
    ...added.map((name) => `${at} requires ${name}`),
    ...pairs(old, now).flatMap(([name, before, after]) => {
      if (!after) return [`${at} no longer accepts ${name}`]
      const required = after.required && !before.required ? [`${at} requires ${name}`] : []
      return [
        ...required,
        ...schemaChanges('in', `${at} ${name}`, object(before.schema), object(after.schema)),
      ]
    }),
  ]
}

function bodyChanges(at: string, was: Json, is: Json): string[] {
  const required = is.required && !was.required ? [`${at} requires a body`] : []
  if (!was.content) return required
  return [...required, ...schemaChanges('in', `${at} body`, schemaOf(was), schemaOf(is))]
}

/** Errors are distinguished by their codes, and removing an error breaks no client. */
function answerChanges(at: string, was: Json, is: Json): string[] {
  return pairs(was, is).flatMap(([status, before, after]) => {
    if (!status.startsWith('2')) return []
    if (!after) return [`${at} no longer returns ${status}`]
    if (!before.content) return []
    return schemaChanges('out', `${at} ${status}`, schemaOf(before), schemaOf(after))
  })
}

function schemaOf(described: Json): Json {
  const content = object(described.content)
  return object(object(Object.values(content)[0]).schema)
}

/** A value of any of these kinds is allowed here. A constant is an enumeration with one value. */
function kinds(schema: Json): Json[] {
  if (schema.anyOf ?? schema.oneOf) return list(schema.anyOf ?? schema.oneOf).flatMap(kinds)
  const { const: only, ...rest } = schema
  const one: Json = only === undefined ? schema : { ...rest, enum: [only] as Json[] }
  return Array.isArray(one.type) ? one.type.map((type) => ({ ...one, type })) : [one]
}

function schemaChanges(way: Way, at: string, was: Json, is: Json): string[] {
  const [old, now] = [kinds(was), kinds(is)]
  if (old.length === 1 && now.length === 1) return kindChanges(way, at, old[0]!, now[0]!)
  const [needed, offered] = way === 'in' ? [old, now] : [now, old]
  const fits = (one: Json) =>
    offered.some((other) =>
      way === 'in'
        ? kindChanges(way, at, one, other).length === 0
        : kindChanges(way, at, other, one).length === 0,
    )
  return needed.every(fits)
    ? []
    : [`${at} ${way === 'in' ? 'accepts fewer kinds of values' : 'may have a different kind of value'}`]
}

function kindChanges(way: Way, at: string, was: Json, is: Json): string[] {
  const [old, now] = [object(was.properties), object(is.properties)]
  const gone = Object.keys(old).filter((name) => !now[name])
  const [held, wanted] = [names(was.required), names(is.required)]
  const required = way === 'in' ? wanted.filter((name) => !held.includes(name)) : []
  const optional = way === 'out' ? held.filter((name) => now[name] && !wanted.includes(name)) : []
  return [
    ...(same(was.type, is.type) && same(was.$ref, is.$ref) ? [] : [`${at} has a different type`]),
    ...valueChanges(way, at, was, is),
    ...gone.map((name) => `${at}.${name} is gone`),
    ...required.map((name) => `${at}.${name} is required now`),
    ...optional.map((name) => `${at}.${name} may be missing now`),
    ...pairs(old, now).flatMap(([name, before, after]) =>
      after ? schemaChanges(way, `${at}.${name}`, before, after) : [],
    ),
    ...(was.items ? schemaChanges(way, `${at}[]`, object(was.items), object(is.items)) : []),
    ...(isObject(was.additionalProperties)
      ? schemaChanges(way, `${at}.*`, was.additionalProperties, object(is.additionalProperties))
      : []),
    ...(way === 'in' ? limitChanges(at, was, is) : []),
  ]
}

/** An enumeration may grow in inputs and outputs: the documentation tells clients to expect unknown values. */
function valueChanges(way: Way, at: string, was: Json, is: Json): string[] {
  if (!is.enum) return []
  if (!was.enum) return way === 'in' ? [`${at} accepts fewer values`] : []
  const now = is.enum as unknown[]
  return (was.enum as unknown[])
    .filter((value) => !now.includes(value))
    .map((value) => `${at} no longer has ${value}`)
}

const LEAST = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties']
const MOST = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties']
const FIXED = ['pattern', 'format', 'propertyNames', 'multipleOf']

function limitChanges(at: string, was: Json, is: Json): string[] {
  const number = (value: unknown, otherwise: number) => (typeof value === 'number' ? value : otherwise)
  const narrower = [
    ...LEAST.filter((name) => number(is[name], -Infinity) > number(was[name], -Infinity)),
    ...MOST.filter((name) => number(is[name], Infinity) < number(was[name], Infinity)),
    ...FIXED.filter((name) => is[name] !== undefined && !same(was[name], is[name])),
    ...(is.additionalProperties === false && was.additionalProperties !== false
      ? ['additionalProperties']
      : []),
    ...(was.default !== undefined && !same(was.default, is.default) ? ['default'] : []),
  ]
  return narrower.map((name) => `${at} has a different ${name}`)
}

const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other)
const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const object = (value: unknown): Json => (isObject(value) ? value : {})
const list = (value: unknown) => (Array.isArray(value) ? value.map(object) : [])
const names = (value: unknown) => (Array.isArray(value) ? value.map(String) : [])
/** Previous items, each with the current item of the same name. */
const pairs = (before: Json, after: Json): [string, Json, Json | undefined][] =>
  Object.entries(before).map(([name, was]) => [
    name,
    object(was),
    after[name] === undefined ? undefined : object(after[name]),
  ])
