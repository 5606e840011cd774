'use server'

import { z } from 'zod'
import { assertOwner } from '#lib/identity/accounts/assert-owner.ts'
import { disconnectProvider, providersOf } from '#lib/identity/accounts/providers.ts'
import { SluiceError } from '#lib/platform/kernel/errors.ts'
import { act } from '../../../actions/act.ts'
import { passwordOf } from '../../../actions/form-fields.ts'
import { wishToConnect } from '../../../connecting.ts'

const provider = z.enum(['github', 'google', 'oidc'])

/** The page then redirects to the provider. The password keeps a stolen session from adding a permanent way in. */
export async function connect(id: string, _previous: unknown, data: FormData) {
  return act('see', data, async (runtime, _actor, session) => {
    const chosen = providersOf(runtime.config).find((one) => one.id === id)
    if (!chosen) throw new SluiceError('not_found', 'This server has no such provider.')
    await assertOwner(runtime, session, passwordOf(data))
    await wishToConnect(session, chosen.id)
    return undefined
  })
}

export async function disconnect(id: string, _previous: unknown, data: FormData) {
  return act('see', data, async (runtime, _actor, session) => {
    const chosen = provider.safeParse(id)
    if (!chosen.success) throw new SluiceError('not_found', 'There is no such provider.')
    await assertOwner(runtime, session, passwordOf(data))
    await disconnectProvider(runtime, session, chosen.data)
    return { message: 'Disconnected.' }
  })
}
