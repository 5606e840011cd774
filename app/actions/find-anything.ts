'use server'

import { getRuntime } from '#lib/runtime.ts'
import { type Found, findInWorkspace } from '#lib/search/find-in-workspace.ts'
import { currentActor } from '../session.ts'
import { textArgument } from './form-fields.ts'

export async function findAnything(query: unknown): Promise<Found[]> {
  return findInWorkspace(getRuntime(), await currentActor(), textArgument(query))
}
