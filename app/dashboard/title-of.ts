import type { Metadata } from 'next'
import type { Actor } from '#lib/identity/audit/record-audit.ts'
import type { Right } from '#lib/identity/rights.ts'
import { getRuntime, type Runtime } from '#lib/platform/runtime.ts'
import { showPipe } from '#lib/workspace/pipes/read-pipes.ts'
import { currentActor } from '../session.ts'
import { orNothing } from './or-not-found.ts'

type Show = (runtime: Runtime, actor: Actor, id: string) => Promise<{ name: string }>

/** The browser tab's title names the item on the page: `film.mp4 · Files · Sluice`. */
export function titledBy(kind: string, show: Show, right: Right = 'see') {
  return async ({ params }: { params: Promise<{ id: string }> }): Promise<Metadata> => {
    const { id } = await params
    const shown = await show(getRuntime(), await currentActor(right), id).catch(orNothing)
    return { title: shown ? `${shown.name} · ${kind}` : kind }
  }
}

export const titledByPipe = (kind: string, right?: Right) => titledBy(kind, showPipe, right)
