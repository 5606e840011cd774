'use server'

import { findInWorkspace, type SearchHit } from '#lib/dashboard/find-in-workspace.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { currentActor } from '../session.ts'
import { textArgument } from './form-fields.ts'

export async function findAnything(query: unknown): Promise<SearchHit[]> {
  return findInWorkspace(getRuntime(), await currentActor('see'), textArgument(query))
}
