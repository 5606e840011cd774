'use server'

import { textArgument } from '#app/actions/form-fields.ts'
import { currentActor } from '#app/session.ts'
import type { DeliveryState, FileStatus } from '#drizzle/schema/index.ts'
import { trialResult } from '#lib/dashboard/files/show-file.ts'
import { getRuntime } from '#lib/platform/runtime.ts'

export type TrialResult = {
  status: FileStatus
  key: string
  resumeCount: number
  savedBytes: number
  delivery: { state: DeliveryState; lastStatus: number | null } | undefined
}

export async function lookAtTrial(fileId: string): Promise<TrialResult | undefined> {
  return trialResult(getRuntime(), await currentActor('see'), textArgument(fileId))
}
