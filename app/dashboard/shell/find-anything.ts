'use server'

import { textArgument } from '#app/actions/form-fields.ts'
import { currentActor } from '#app/session.ts'
import { findInWorkspace, type SearchHit } from '#lib/dashboard/find-in-workspace.ts'
import { getRuntime } from '#lib/platform/runtime.ts'

export async function findAnything(query: unknown): Promise<SearchHit[]> {
  return findInWorkspace(getRuntime(), await currentActor('see'), textArgument(query))
}
