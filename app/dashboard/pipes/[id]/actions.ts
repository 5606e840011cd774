'use server'

import { act } from '#app/actions/act.ts'
import { textOf } from '#app/actions/form-fields.ts'
import type { Actor } from '#lib/identity/audit/record-audit.ts'
import { SluiceError } from '#lib/platform/kernel/errors.ts'
import { parseInput } from '#lib/platform/kernel/parse-input.ts'
import type { Runtime } from '#lib/platform/runtime.ts'
import { destinationsField, type PipeDestination } from '#lib/workspace/pipes/destinations.ts'
import { pipeChanges } from '#lib/workspace/pipes/pipe.ts'
import { showPipe } from '#lib/workspace/pipes/read-pipes.ts'
import { updatePipe } from '#lib/workspace/pipes/update-pipe.ts'

const STILL_GOING = {
  http: 'Uploads in progress continue.',
  url: 'Imports in progress continue.',
  sftp: 'Open sessions can finish their files.',
  ftps: 'Open sessions can finish their files.',
  ftp: 'Open sessions can finish their files.',
}
export type Source = keyof typeof STILL_GOING

export async function switchSource(id: string, source: Source, _previous: unknown, data: FormData) {
  return act('build', data, async (runtime, actor) => {
    const on = data.get('on') === 'on'
    await updatePipe(runtime, actor, id, parseInput(pipeChanges, { source: { [source]: on } }))
    return { message: on ? 'The source is on.' : `The source is off. ${STILL_GOING[source]}` }
  })
}

/** Each button in the list is its own form, so the list works without JavaScript. */
export async function addDestination(pipeId: string, _previous: unknown, data: FormData) {
  const added = { dataStoreId: textOf(data, 'dataStoreId') ?? '', required: data.get('required') === 'on' }
  return act('build', data, async (runtime, actor) => {
    await edit(runtime, actor, pipeId, (all) => [...all, added])
    return { message: 'Added. New uploads also go there.' }
  })
}

export async function moveDestination(pipeId: string, dataStoreId: string, direction: 'up' | 'down') {
  return act('build', async (runtime, actor) => {
    await edit(runtime, actor, pipeId, (all) => moved(all, dataStoreId, direction === 'up' ? -1 : 1))
    return { message: 'Moved.' }
  })
}

export async function requireDestination(pipeId: string, dataStoreId: string, required: boolean) {
  return act('build', async (runtime, actor) => {
    const changed = (one: PipeDestination) => (one.dataStoreId === dataStoreId ? { ...one, required } : one)
    await edit(runtime, actor, pipeId, (all) => all.map(changed))
    return { message: `The destination is ${required ? 'required' : 'best effort'} for new uploads.` }
  })
}

export async function removeDestination(pipeId: string, dataStoreId: string) {
  return act('build', async (runtime, actor) => {
    await edit(runtime, actor, pipeId, (all) => all.filter((one) => one.dataStoreId !== dataStoreId))
    return { message: 'Removed. Uploads in progress still go there.' }
  })
}

async function edit(
  runtime: Runtime,
  actor: Actor,
  pipeId: string,
  change: (all: PipeDestination[]) => PipeDestination[],
): Promise<void> {
  const wanted = change((await showPipe(runtime, actor, pipeId)).destinations)
  // These forms have no field that could show the error.
  const fault = destinationsField.safeParse(wanted).error?.issues[0]?.message
  if (fault) throw new SluiceError('conflict', `The list ${fault}.`)
  await updatePipe(runtime, actor, pipeId, parseInput(pipeChanges, { destinations: wanted }))
}

function moved(all: PipeDestination[], dataStoreId: string, by: number): PipeDestination[] {
  const from = all.findIndex((one) => one.dataStoreId === dataStoreId)
  const to = from + by
  if (from < 0 || to < 0 || to >= all.length) return all
  const rest = all.toSpliced(from, 1)
  return rest.toSpliced(to, 0, all[from]!)
}
