'use server'

import { act } from '#app/actions/act.ts'
import { switchOn } from '#lib/identity/accounts/turned-off.ts'

export async function switchOnAgain(id: string) {
  return act('administer', async (runtime, actor) => {
    const { name } = await switchOn(runtime, actor, id)
    return { message: `${name} is on again.` }
  })
}
