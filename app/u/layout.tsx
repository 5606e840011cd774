import type { ReactNode } from 'react'
import { readTexts } from '../texts.ts'
import { FailedTexts } from './failed-texts.tsx'

export default async function LinksLayout({ children }: { children: ReactNode }) {
  const { failed } = (await readTexts()).linkPage
  return <FailedTexts texts={failed}>{children}</FailedTexts>
}
