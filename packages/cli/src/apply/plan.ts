import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { Failure } from '../command.ts'
import { type Document, type Fields, isFields, type NamedDestination, type Thing } from './document.ts'
import type { Found, Workspace } from './workspace.ts'

/**
 * The steps that make a workspace match a configuration file, in an order in which they can be carried out. Nothing
 * here calls the server.
 */
export type Kind =
  | 'data store'
  | 'pipe'
  | 'sender'
  | 'output'
  | 'hook'
  | 'person'
  | 'workspace'
  | 'link pages'
  | 'alerts'

export type Step = {
  action: 'create' | 'change' | 'delete'
  kind: Kind
  name: string
  /** The id of an existing item. */
  id?: string
  fields: Fields
  /** For a hook or an output: its Pipe, or undefined if it belongs to the workspace. */
  pipe?: string | undefined
  /** Set for a Pipe that is to be created or whose destinations change. */
  destinations?: NamedDestination[] | undefined
}

export type Plan = { steps: Step[]; unchanged: number; unlisted: Step[] }
type Options = { secrets: boolean; prune: boolean }

/** The API never shows these secrets, so each is only sent if the field it belongs to has changed. */
const SECRET: Record<string, string> = {
  secretAccessKey: 'accessKeyId',
  serviceAccountKey: 'accessKeyId',
  storageAccountKey: 'accessKeyId',
  sasToken: 'accessKeyId',
  headers: 'headerNames',
}

export function makePlan(wanted: Document, found: Workspace, { secrets, prune }: Options): Plan {
  const compare = (kind: Kind, things: Thing[] | undefined, existing: Found[], more: Partial<Step> = {}) =>
    compareThings({ kind, secrets, more }, things, existing)
  const stores = compare('data store', wanted.dataStores, found.dataStores)
  const pipes = comparePipes(wanted, found, secrets)
  const ofPipes = (wanted.pipes ?? []).flatMap(({ name, outputs, hooks }) => {
    const pipe = found.pipes.find((one) => one.name === name)
    return [
      compare('output', outputs, pipe?.outputs ?? [], { pipe: name }),
      compare('hook', hooks, pipe?.hooks ?? [], { pipe: name }),
    ]
  })
  const outputs = compare('output', wanted.outputs, found.outputs)
  const senders = compare('sender', wanted.senders, found.senders)
  const people = comparePeople(wanted.people, found.people)
  const alerts = compareAlerts(wanted.alerts, found.alerts)
  const workspace = compareSet('workspace', wanted.workspace, found.workspace)
  const linkPages = compareSet('link pages', wanted.linkPages, found.linkPages)
  const all = [stores, pipes, ...ofPipes, outputs, senders, people, alerts, linkPages, workspace]
  const unlisted = all.flatMap((one) => one.unlisted).reverse()
  return {
    steps: [...all.flatMap((one) => one.steps), ...(prune ? unlisted : [])],
    unchanged: all.reduce((sum, one) => sum + one.unchanged, 0),
    unlisted: prune ? [] : unlisted,
  }
}

/** The file refers to Data Stores by name, because one that is yet to be created has no id. */
function comparePipes({ pipes, dataStores }: Document, found: Workspace, secrets: boolean): Plan {
  const idOf = (store: string) => found.dataStores.find(({ name }) => name === store)?.id
  const isThere = (store: string) => idOf(store) ?? dataStores?.some(({ name }) => name === store)
  for (const { name, destinations = [] } of pipes ?? []) {
    const odd = destinations.find(({ dataStore }) => !isThere(dataStore))
    if (odd)
      throw new Failure(
        `The Pipe "${name}" names the Data Store "${odd.dataStore}", which is neither in the file nor in the workspace.`,
      )
  }
  const things = pipes?.map(({ name, fields, destinations }) => ({
    name,
    fields: destinations
      ? {
          ...fields,
          destinations: destinations.map(({ dataStore, required }) => ({
            dataStoreId: idOf(dataStore),
            required,
          })),
        }
      : fields,
  }))
  const plan = compareThings({ kind: 'pipe', secrets, more: {} }, things, found.pipes)
  const steps = plan.steps.map((step) =>
    'destinations' in step.fields
      ? { ...step, destinations: pipes!.find(({ name }) => name === step.name)!.destinations }
      : step,
  )
  return { ...plan, steps }
}

/** Owners are left unchanged: no account key has owner permissions. */
function comparePeople(people: Thing[] | undefined, existing: Workspace['people']): Plan {
  const plan = compareThings({ kind: 'person', secrets: false, more: {} }, people, existing)
  const isOwner = (step: Step) => existing.some(({ id, fields }) => id === step.id && fields.role === 'owner')
  return { ...plan, unlisted: plan.unlisted.filter((step) => !isOwner(step)) }
}

/** An omitted channel stays unchanged. */
function compareAlerts(wanted: Fields | undefined, current: Fields): Plan {
  if (!wanted) return compareSet('alerts', undefined, current)
  const odd = Object.keys(wanted).find((kind) => !(kind in current))
  if (odd) throw new Failure(`There is no alert "${odd}", only ${Object.keys(current).join(', ')}.`)
  const fields = Object.fromEntries(
    Object.entries(wanted).map(([kind, ways]) => {
      const now = current[kind]
      return [kind, isFields(now) && isFields(ways) ? { ...now, ...ways } : ways]
    }),
  )
  return compareSet('alerts', fields, current)
}

/** Compares settings that exist only once per workspace, and therefore have no names. */
function compareSet(kind: Kind, wanted: Fields | undefined, current: Fields): Plan {
  const name = 'settings'
  const things = wanted && [{ name, fields: wanted }]
  return compareThings({ kind, secrets: false, more: {} }, things, [{ id: kind, name, fields: current }])
}

type Comparing = { kind: Kind; secrets: boolean; more: Partial<Step> }

function compareThings(
  { kind, secrets, more }: Comparing,
  things: Thing[] | undefined,
  existing: Found[],
): Plan {
  const plan: Plan = { steps: [], unchanged: 0, unlisted: [] }
  if (!things) return plan
  for (const { name, fields } of things) {
    const same = existing.filter((one) => one.name === name)
    if (same.length > 1)
      throw new Failure(
        `There are ${same.length} ${kind}s named "${name}". Rename them first: a configuration file tells them apart by name.`,
      )
    const [current] = same
    const step = { kind, name, ...more }
    if (!current) plan.steps.push({ ...step, action: 'create', fields })
    else {
      const changes = differences(fields, current.fields, secrets)
      if (Object.keys(changes).length === 0) plan.unchanged += 1
      else plan.steps.push({ ...step, action: 'change', id: current.id, fields: changes })
    }
  }
  const names = things.map(({ name }) => name)
  for (const { id, name } of existing.filter((one) => !names.includes(one.name)))
    plan.unlisted.push({ kind, name, ...more, action: 'delete', id, fields: {} })
  return plan
}

function differences(wanted: Fields, current: Fields, secrets: boolean): Fields {
  const changed = (key: string) => !isDeepStrictEqual(whole(key), current[key])
  // Sources missing from the file stay unchanged.
  const whole = (key: string) =>
    key === 'source' ? { ...(current.source as Fields), ...(wanted.source as Fields) } : wanted[key]
  const isSent = (key: string) => {
    const shownBy = SECRET[key]
    if (shownBy === undefined) return changed(key)
    if (shownBy === 'headerNames')
      return (
        secrets ||
        !isDeepStrictEqual(namesOf(wanted.headers), [...((current.headerNames ?? []) as string[])].sort())
      )
    return secrets || shownIdOf(key, wanted) !== current[shownBy]
  }
  return Object.fromEntries(Object.entries(wanted).filter(([key]) => isSent(key)))
}

/** What the API shows as the Data Store's access key id, for the credentials in this field. */
function shownIdOf(key: string, wanted: Fields): unknown {
  const secret = String(wanted[key])
  if (key === 'serviceAccountKey') return keyIdIn(secret)
  if (key === 'storageAccountKey') return fingerprintOf(secret)
  // A SAS is often copied with its question mark or as an address.
  if (key === 'sasToken') return fingerprintOf(secret.slice(secret.indexOf('?') + 1))
  return wanted.accessKeyId
}

function keyIdIn(keyFile: string): unknown {
  try {
    return JSON.parse(keyFile).private_key_id
  } catch {
    return undefined
  }
}

const fingerprintOf = (secret: string): string =>
  createHash('sha256').update(secret).digest('hex').slice(0, 16)

function namesOf(headers: unknown): string[] {
  return Object.keys((headers ?? {}) as object).sort()
}

/** The plan as text for people, one line per step. Contains no values, because some are secret. */
export function describePlan({ steps, unchanged, unlisted }: Plan): string[] {
  const lines = steps.map((step) => {
    const fields = step.action === 'change' ? `: ${Object.keys(step.fields).join(', ')}` : ''
    return `${{ create: '+', change: '~', delete: '-' }[step.action]} ${step.action} ${nameOf(step)}${fields}`
  })
  const count = (action: Step['action']) => steps.filter((step) => step.action === action).length
  const sum = `${count('create')} to create, ${count('change')} to change, ${count('delete')} to delete, ${unchanged} unchanged.`
  const left = unlisted.map(nameOf).join(', ')
  return [...lines, sum, ...(left ? [`Not in the file, and left unchanged without --prune: ${left}.`] : [])]
}

export const nameOf = ({ kind, name, pipe }: Pick<Step, 'kind' | 'name' | 'pipe'>): string =>
  `${kind} "${name}"${pipe ? ` of the pipe "${pipe}"` : ''}`
