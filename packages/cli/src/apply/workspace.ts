import type { Sluice } from '../../../node/src/client.ts'
import type { Fields } from './document.ts'

/** A workspace's current state, with the fields that a configuration file may set. */
export type Found = { id: string; name: string; fields: Fields }
/** A hook has its Pipe's id. */
export type FoundPipe = Found & { outputs: Found[]; hooks: Found[] }
export type Workspace = {
  dataStores: Found[]
  pipes: FoundPipe[]
  senders: Found[]
  outputs: Found[]
  /** Members, and people with an invitation, by email address. */
  people: (Found & { isInvited: boolean })[]
  /** Settings that exist only once per workspace. */
  workspace: Fields
  linkPages: Fields
  alerts: Fields
}

/** Fields that only the server sets, or that repeat another field. */
const OF_DATA_STORES = ['id', 'identity', 'check', 'createdAt']
const OF_PIPES = ['id', 'dataStoreId', 'uploadUrl', 'createdAt']
const OF_OUTPUTS = [
  ...['id', 'pipeId', 'createdAt', 'updatedAt', 'previousSecretUntil'],
  ...['turnedOffReason', 'turnedOffAt', 'failingSince'],
]
const OF_HOOKS = ['id', 'name', 'createdAt', 'updatedAt', 'previousSecretUntil', 'failingSince', 'fault']

export async function readWorkspace(sluice: Sluice): Promise<Workspace> {
  const [dataStores, pipes, senders, outputs, people, { id: _, ...workspace }, pages, alerts] =
    await Promise.all([
      all(sluice.listDataStores({ limit: 100 })),
      all(sluice.listPipes({ limit: 100 })),
      all(sluice.listSenders({ limit: 100 })),
      sluice.listOutputs(),
      readPeople(sluice),
      sluice.showWorkspace(),
      sluice.showLinkPages(),
      sluice.showAlertSettings(),
    ])
  const ofPipes = pipes.map(async (pipe) => {
    const { id } = pipe
    const [outputs, hooks] = await Promise.all([sluice.listPipeOutputs({ id }), sluice.listHooks({ id })])
    return {
      ...toFound(pipe, OF_PIPES),
      outputs: outputs.data.map((output) => toFound(output, OF_OUTPUTS)),
      hooks: hooks.data.map((hook) => toFound({ ...hook, id, name: hook.hook }, OF_HOOKS)),
    }
  })
  return {
    dataStores: dataStores.map((store) => toFound(store, OF_DATA_STORES)),
    pipes: await Promise.all(ofPipes),
    // Those in groups are devices, which are not part of a configuration.
    senders: senders
      .filter(({ revokedAt, groupId }) => !revokedAt && groupId === null)
      .map(({ id, name }) => ({ id, name, fields: { name } })),
    outputs: outputs.data.map((output) => toFound(output, OF_OUTPUTS)),
    people,
    workspace,
    linkPages: { name: pages.name, color: pages.color, text: pages.text },
    alerts,
  }
}

async function readPeople(sluice: Sluice): Promise<Workspace['people']> {
  const people: Workspace['people'] = []
  const add = (id: string, isInvited: boolean, { email, role }: { email: string; role: string }) =>
    people.push({ id, name: email.toLowerCase(), fields: { email: email.toLowerCase(), role }, isInvited })
  for await (const member of sluice.listMembers({ limit: 100 })) add(member.userId, false, member)
  for await (const invitation of sluice.listInvitations({ limit: 100 })) add(invitation.id, true, invitation)
  return people.sort(byName)
}

const byName = (one: { name: string }, other: { name: string }) => (one.name < other.name ? -1 : 1)

/** Sorted by name, so that a diff of two exports shows only what has changed. */
async function all<Item extends { name: string }>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = []
  for await (const item of items) found.push(item)
  return found.sort(byName)
}

function toFound(item: { id: string; name: string }, readOnly: string[]): Found {
  const fields = Object.entries(item).filter(([key]) => !readOnly.includes(key))
  return { id: item.id, name: item.name, fields: Object.fromEntries(fields) }
}
