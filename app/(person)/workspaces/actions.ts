'use server'

import { redirect } from 'next/navigation'
import { createWorkspace, openWorkspace, workspaceInput } from '#lib/identity/workspaces/workspaces.ts'
import { parseInput } from '#lib/platform/kernel/parse-input.ts'
import { actAsPerson } from '../../actions/act.ts'
import { textArgument, textOf } from '../../actions/form-fields.ts'

export async function open(id: string) {
  return actAsPerson(async (runtime, person) => {
    await openWorkspace(runtime, person, textArgument(id))
    redirect('/dashboard')
  })
}

export async function create(_previous: unknown, data: FormData) {
  return actAsPerson(data, async (runtime, person) => {
    await createWorkspace(runtime, person, parseInput(workspaceInput, { name: textOf(data, 'name') ?? '' }))
    redirect('/dashboard')
  })
}
