import { z } from 'zod'

export type Field = { name: string; type: string; required: boolean; description: string }

/** The parts of a JSON Schema that descriptions and examples are made from. */
export type Json = {
  type?: string | string[]
  properties?: Record<string, Json>
  required?: string[]
  items?: Json
  anyOf?: Json[]
  oneOf?: Json[]
  enum?: unknown[]
  const?: unknown
  example?: unknown
  format?: string
  description?: string
  default?: unknown
  minimum?: number
  maximum?: number
  additionalProperties?: Json | boolean
}

/** A request or response's fields, one level deep, for a table. */
export function fieldsOf(schema: z.ZodType, io: 'input' | 'output'): Field[] {
  const json = z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as Json
  const object = json.properties ? json : json.items
  return Object.entries(object?.properties ?? {}).map(([name, property]) => ({
    name,
    type: typeOf(property),
    required: object?.required?.includes(name) ?? false,
    description: describe(property),
  }))
}

function typeOf(json: Json): string {
  if (json.const !== undefined) return JSON.stringify(json.const)
  if (json.enum) return json.enum.map((value) => JSON.stringify(value)).join(' | ')
  const several = json.anyOf ?? json.oneOf
  if (several) return [...new Set(several.map(typeOf))].join(' | ')
  if (json.type === 'array') return `${json.items ? typeOf(json.items) : 'any'}[]`
  if (json.type === 'object' && !json.properties) return 'map of strings'
  const plain = Array.isArray(json.type) ? json.type.join(' | ') : (json.type ?? 'any')
  return json.format === 'date-time' ? 'time' : json.format === 'uuid' ? 'uuid' : plain
}

const SAFE = Number.MAX_SAFE_INTEGER

function describe(json: Json): string {
  const range = [
    json.minimum !== undefined && Math.abs(json.minimum) < SAFE && json.minimum !== 0
      ? `from ${json.minimum}`
      : '',
    json.maximum !== undefined && Math.abs(json.maximum) < SAFE ? `to ${json.maximum}` : '',
  ].filter(Boolean)
  const initial = json.default === undefined ? '' : `default ${JSON.stringify(json.default)}`
  const limits = [range.join(' '), initial].filter(Boolean).join(', ')
  return [json.description, limits].filter(Boolean).join('; ')
}
