import type { Sluice } from '../../../node/src/client.ts'
import type { Fields } from './document.ts'
import type { Step } from './plan.ts'
import type { Workspace } from './workspace.ts'

/** A secret that the server only shows once. */
export type Shown = Pick<Step, 'kind' | 'name' | 'pipe'> & { secret: string }

/**
 * Performs a plan's steps one after another. Each is atomic, and a plan made after an interrupted run contains the
 * remaining steps.
 */
export async function carryOut(
  sluice: Sluice,
  steps: readonly Step[],
  found: Workspace,
  done: (step: Step) => void,
): Promise<Shown[]> {
  const shown: Shown[] = []
  const ids = {
    stores: new Map(found.dataStores.map(({ name, id }) => [name, id])),
    pipes: new Map(found.pipes.map(({ name, id }) => [name, id])),
    hooks: hooksOf(found),
    invitations: new Set(found.people.filter(({ isInvited }) => isInvited).map(({ id }) => id)),
  }
  for (const step of steps) {
    const secret = await take(sluice, step, ids)
    if (secret) shown.push({ kind: step.kind, name: step.name, pipe: step.pipe, secret })
    done(step)
  }
  return shown
}

type Ids = {
  stores: Map<string, string>
  pipes: Map<string, string>
  /**
   * The current settings of existing hooks. Saving a hook replaces all its settings, so unchanged ones are sent again.
   */
  hooks: Map<string, Fields>
  /** The ids of people with an invitation. */
  invitations: Set<string>
}

const hookKey = (pipeId: string, hook: string) => `${pipeId} ${hook}`

function hooksOf({ pipes }: Workspace): Ids['hooks'] {
  const all = pipes.flatMap(({ hooks }) => hooks)
  return new Map(all.map(({ id, name, fields }) => [hookKey(id, name), fields]))
}

async function take(sluice: Sluice, step: Step, ids: Ids): Promise<string | undefined> {
  if (step.action === 'create') return create(sluice, step, ids)
  if (step.action === 'change') await change(sluice, step, ids)
  else await remove(sluice, step, ids)
  return undefined
}

async function create(sluice: Sluice, step: Step, ids: Ids): Promise<string | undefined> {
  const fields = withStores(step, ids) as never
  switch (step.kind) {
    case 'data store':
      ids.stores.set(step.name, (await sluice.createDataStore(fields)).id)
      return undefined
    case 'pipe':
      ids.pipes.set(step.name, (await sluice.createPipe(fields)).id)
      return undefined
    case 'sender':
      return (await sluice.createSender(fields)).token
    case 'output': {
      const made = step.pipe
        ? await sluice.createPipeOutput({ id: ids.pipes.get(step.pipe)!, ...(fields as object) } as never)
        : await sluice.createOutput(fields)
      return made.secret
    }
    case 'hook':
      return (await sluice.saveHook({ id: ids.pipes.get(step.pipe!)!, ...(fields as object) } as never))
        .secret
    case 'person':
      await sluice.invite(fields)
      return undefined
    // These always exist, so they are never created.
    case 'alerts':
    case 'link pages':
    case 'workspace':
      return undefined
  }
}

async function change(sluice: Sluice, step: Step, ids: Ids): Promise<void> {
  if (step.kind === 'alerts') return void (await sluice.changeAlertSettings(step.fields))
  if (step.kind === 'link pages') return void (await sluice.changeLinkPages(step.fields))
  if (step.kind === 'workspace') return void (await sluice.changeWorkspace(step.fields))
  if (step.kind === 'hook') {
    const whole = { ...ids.hooks.get(hookKey(step.id!, step.name)), ...step.fields }
    return void (await sluice.saveHook({ id: step.id!, ...whole } as never))
  }
  // A new invitation replaces the previous one.
  if (ids.invitations.has(step.id!))
    return void (await sluice.invite({ email: step.name, ...step.fields } as never))
  const changes = { id: step.id!, ...withStores(step, ids) } as never
  if (step.kind === 'data store') await sluice.updateDataStore(changes)
  else if (step.kind === 'pipe') await sluice.updatePipe(changes)
  else if (step.kind === 'output') await sluice.changeOutput(changes)
  else if (step.kind === 'person') await sluice.changeRole(changes)
  else await sluice.renameSender(changes)
}

async function remove(sluice: Sluice, { kind, id, name }: Step, { invitations }: Ids): Promise<void> {
  if (kind === 'data store') await sluice.deleteDataStore({ id: id! })
  else if (kind === 'pipe') await sluice.deletePipe({ id: id! })
  else if (kind === 'output') await sluice.deleteOutput({ id: id! })
  else if (kind === 'hook') await sluice.deleteHook({ id: id!, hook: name })
  else if (kind === 'person' && invitations.has(id!)) await sluice.withdrawInvitation({ id: id! })
  else if (kind === 'person') await sluice.removeMember({ id: id! })
  else await sluice.revokeSender({ id: id! })
}

/** Fills in Data Store ids only now, because those created by this run did not have one earlier. */
function withStores({ fields, destinations }: Step, { stores }: Ids): Fields {
  if (!destinations) return fields
  const list = destinations.map(({ dataStore, required }) => ({
    dataStoreId: stores.get(dataStore),
    required,
  }))
  return { ...fields, destinations: list }
}
