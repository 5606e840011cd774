'use server'

import { redirect } from 'next/navigation'
import { assertOwner } from '#lib/identity/accounts/assert-owner.ts'
import * as factor from '#lib/identity/accounts/second-factor.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { actAsPerson, answer } from '../../actions/act.ts'
import { passwordOf, textOf } from '../../actions/form-fields.ts'
import { currentPerson } from '../../session.ts'

const codeOf = (data: FormData) => (textOf(data, 'code') ?? '').slice(0, 50)

/** Verifies the code that a session needs before it can open a workspace. */
export async function giveCode(_previous: unknown, data: FormData) {
  const person = (await currentPerson()) ?? redirect('/login')
  return answer(data, async () => {
    await factor.giveSecondFactor(getRuntime(), person, codeOf(data))
    redirect('/dashboard')
  })
}

/** Requires the password, so that a stolen session cannot lock out its owner. */
export async function beginFactor(_previous: unknown, data: FormData) {
  return actAsPerson<factor.FactorSetup>(data, async (runtime, person) => {
    await assertOwner(runtime, person, passwordOf(data))
    return { data: await factor.beginSecondFactor(runtime, person) }
  })
}

export async function enableFactor(_previous: unknown, data: FormData) {
  return actAsPerson<string[]>(data, async (runtime, person) => ({
    data: await factor.enableSecondFactor(runtime, person, codeOf(data)),
  }))
}

export async function disableFactor(_previous: unknown, data: FormData) {
  return actAsPerson(data, async (runtime, person) => {
    await factor.disableSecondFactor(runtime, person, codeOf(data))
    redirect('/dashboard/settings/security')
  })
}
