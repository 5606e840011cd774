import type { Metadata } from 'next'
import { orNothing } from './or-nothing.ts'

/** A tab is known by what is open in it: `film.mp4 · Files · Sluice`. */
export async function titleOf(name: Promise<string>, kind: string): Promise<Metadata> {
  const known = await name.catch(orNothing)
  return { title: known ? `${known} · ${kind}` : kind }
}
