'use server'

import { redirect } from 'next/navigation'
import { closeSession } from '../session.ts'

export async function signOut(): Promise<void> {
  await closeSession()
  redirect('/login')
}
