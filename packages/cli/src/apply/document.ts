import { readFileSync } from 'node:fs'
import { parse, visit, Document as Yaml } from 'yaml'
import { EXIT, Failure, shown } from '../command.ts'

/**
 * A configuration file: what a workspace should contain. Items are identified by their name, which is unique in its
 * list. Fields are those of the API, except that a Pipe names its Data Stores and contains its outputs and hooks.
 * Omitted fields stay unchanged, as do omitted lists. `${NAME}` in a value is an environment variable, and `$${NAME}`
 * is that literal text.
 */
export type Fields = Record<string, unknown>
export type Thing = { name: string; fields: Fields }
/** A Pipe's destinations, by Data Store name. */
export type NamedDestination = { dataStore: string; required: boolean }
export type PipeThing = Thing & {
  destinations: NamedDestination[] | undefined
  outputs: Thing[] | undefined
  /** Identified by their kind. */
  hooks: Thing[] | undefined
}
export type Document = {
  dataStores: Thing[] | undefined
  pipes: PipeThing[] | undefined
  senders: Thing[] | undefined
  outputs: Thing[] | undefined
  /** Identified by their email addresses. */
  people: Thing[] | undefined
  workspace: Fields | undefined
  linkPages: Fields | undefined
  /** By kind of alert. */
  alerts: Fields | undefined
}

type Environment = Record<string, string | undefined>

const VERSION = 1
const LISTS = ['dataStores', 'pipes', 'senders', 'outputs', 'people'] as const
const MAPS = ['workspace', 'linkPages', 'alerts'] as const

export function readDocument(file: string, env: Environment): Document {
  const missing = new Set<string>()
  const whole = fillIn(parseYaml(file), env, missing)
  if (missing.size > 0)
    throw wrong(file, `these environment variables are not set: ${[...missing].sort().join(', ')}`)
  if (!isFields(whole) || whole.version !== VERSION)
    throw wrong(file, `it must start with "version: ${VERSION}"`)
  const parts: string[] = [...LISTS, ...MAPS]
  const unknown = Object.keys(whole).find((key) => key !== 'version' && !parts.includes(key))
  if (unknown) throw wrong(file, `"${unknown}" is not a valid key; the keys are ${parts.join(', ')}`)
  const map = (key: (typeof MAPS)[number]) => readMap(file, key, whole[key])
  const list = (key: (typeof LISTS)[number]) =>
    readThings(file, key, whole[key], key === 'people' ? 'email' : 'name')
  return {
    dataStores: list('dataStores'),
    pipes: list('pipes')?.map((thing) => readPipe(file, thing)),
    senders: list('senders'),
    outputs: list('outputs'),
    people: list('people'),
    workspace: map('workspace'),
    linkPages: map('linkPages'),
    alerts: map('alerts'),
  }
}

export function writeDocument(document: object): string {
  const written = new Yaml({ version: VERSION, ...document })
  // In double quotes, YAML escapes characters that are unsafe for the terminal.
  visit(written, {
    Scalar(_, scalar) {
      if (typeof scalar.value === 'string' && shown(scalar.value) !== scalar.value)
        scalar.type = 'QUOTE_DOUBLE'
    },
  })
  return written.toString({ lineWidth: 0 })
}

function parseYaml(file: string): unknown {
  const text = readText(file)
  try {
    return parse(text)
  } catch (error) {
    const [what, ...where] = (error as Error).message.split('\n')
    throw wrong(file, what!.replace(/[.:]$/, ''), where)
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8')
  } catch (error) {
    throw wrong(file, (error as Error).message)
  }
}

const VARIABLE = /\$(\$*)\{([A-Za-z_][A-Za-z0-9_]*)\}/g

/**
 * Escapes a value so that reading the file returns it unchanged: a Pipe's name must not give access to the
 * environment of the people who apply the file.
 */
export function asText<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value), (_, one) =>
    typeof one === 'string' ? one.replace(VARIABLE, (text) => `$${text}`) : one,
  )
}

function fillIn(value: unknown, env: Environment, missing: Set<string>): unknown {
  if (typeof value === 'string')
    return value.replace(VARIABLE, (text, more: string, name: string) => {
      if (more) return text.slice(1)
      const found = env[name]
      if (!found) missing.add(name)
      return found ?? ''
    })
  if (Array.isArray(value)) return value.map((one) => fillIn(one, env, missing))
  if (!isFields(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, fillIn(one, env, missing)]))
}

function readMap(file: string, at: string, value: unknown): Fields | undefined {
  if (value !== undefined && !isFields(value)) throw wrong(file, `${at} must be a map`)
  return value
}

/** The field that identifies an item in a list. */
type Key = 'name' | 'email' | 'hook'
const A_KEY: Record<Key, string> = { name: 'a name', email: 'an email', hook: 'a hook' }

function readThings(file: string, at: string, value: unknown, key: Key): Thing[] | undefined {
  if (value === undefined) return undefined
  if (value !== null && !Array.isArray(value)) throw wrong(file, `${at} must be a list`)
  const things = (value ?? []).map((one: unknown, index: number): Thing => {
    const given = isFields(one) ? one[key] : undefined
    if (typeof given !== 'string' || given.trim() === '')
      throw wrong(file, `${at}[${index}] needs ${A_KEY[key]}`)
    const name = key === 'email' ? given.trim().toLowerCase() : given.trim()
    return { name, fields: { ...(one as Fields), [key]: name } }
  })
  const names = things.map(({ name }) => name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice) throw wrong(file, `${at} has "${twice}" twice; each ${key} must be unique`)
  return things
}

function readPipe(file: string, { name, fields: all }: Thing): PipeThing {
  const { dataStore, destinations, outputs, hooks, ...fields } = all
  return {
    name,
    fields,
    destinations: readDestinations(file, name, { dataStore, destinations }),
    outputs: readThings(file, `outputs of the Pipe "${name}"`, outputs, 'name'),
    hooks: readThings(file, `hooks of the Pipe "${name}"`, hooks, 'hook'),
  }
}

/** `dataStore: archive` is short for a list with one required destination. */
function readDestinations(
  file: string,
  pipe: string,
  { dataStore, destinations }: Fields,
): NamedDestination[] | undefined {
  if (dataStore !== undefined && destinations !== undefined)
    throw wrong(file, `the Pipe "${pipe}" has both dataStore and destinations; use one of them`)
  if (dataStore === undefined && destinations === undefined) return undefined
  const list = dataStore === undefined ? destinations : [{ dataStore }]
  if (!Array.isArray(list)) throw wrong(file, `destinations of the Pipe "${pipe}" must be a list`)
  return list.map((one: unknown) => {
    const { dataStore, required = true, ...more } = isFields(one) ? one : {}
    if (typeof dataStore !== 'string' || typeof required !== 'boolean' || Object.keys(more).length > 0)
      throw wrong(
        file,
        `each destination of the Pipe "${pipe}" names a Data Store, and may say whether it is required: { dataStore: archive, required: false }`,
      )
    return { dataStore, required }
  })
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function wrong(file: string, what: string, where: string[] = []): Failure {
  return new Failure(`${file === '-' ? 'The configuration' : file}: ${what}.`, EXIT.misused, where)
}
