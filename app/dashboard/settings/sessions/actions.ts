'use server'

import { redirect } from 'next/navigation'
import { act } from '#app/actions/act.ts'
import { revokeSession, signOutEverywhere } from '#lib/identity/sessions/sessions.ts'

export async function endSession(id: string) {
  return act('see', async (runtime, _actor, session) => {
    await revokeSession(runtime, session, id)
    if (id === session.id) redirect('/login')
    return { message: 'That session was signed out.' }
  })
}

export async function endOtherSessions() {
  return act('see', async (runtime, _actor, session) => {
    await signOutEverywhere(runtime, session.userId, { except: session.id })
    return { message: 'Every other session was signed out.' }
  })
}
