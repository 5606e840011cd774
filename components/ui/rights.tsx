'use client'

import { createContext, type ReactNode, use } from 'react'
import type { Right } from '#lib/identity/rights.ts'

const Rights = createContext<readonly Right[] | undefined>(undefined)

/**
 * Provides the user's rights in this workspace, so that forbidden actions are not offered. This is not the actual
 * check: each action consults the table of rights again. Outside a workspace, nothing depends on a role.
 */
export function RightsProvider({ rights, children }: { rights: readonly Right[]; children: ReactNode }) {
  return <Rights value={rights}>{children}</Rights>
}

export function useMay(): (right: Right | undefined) => boolean {
  const rights = use(Rights)
  return (right) => right === undefined || rights === undefined || rights.includes(right)
}

/** Renders its content only for users with the right. */
export function IfMay({ right, children }: { right: Right; children: ReactNode }) {
  return useMay()(right) ? children : null
}
