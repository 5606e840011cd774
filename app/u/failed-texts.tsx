'use client'

import { createContext, type ReactNode, use } from 'react'
import type { LinkPage } from '#packages/react/src/words.ts'

type Failed = LinkPage['failed']

const Texts = createContext<Failed | undefined>(undefined)

/** Only the server knows the visitor's language, and an error page gets nothing else from it. */
export function FailedTexts({ texts, children }: { texts: Failed; children: ReactNode }) {
  return <Texts value={texts}>{children}</Texts>
}

export const useFailedTexts = () => use(Texts)!
