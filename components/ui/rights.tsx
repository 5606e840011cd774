'use client'

import { createContext, type ReactNode, use } from 'react'
import type { Right } from '#lib/identity/rights.ts'

const Rights = createContext<readonly Right[] | undefined>(undefined)

/**
 * What the visitor may do here, so that nobody is offered what would be refused. The refusal itself is elsewhere: each action asks
 * the table of rights again. Outside a workspace nothing depends on a role.
 */
export function RightsProvider({ rights, children }: { rights: readonly Right[]; children: ReactNode }) {
  return <Rights value={rights}>{children}</Rights>
}

export function useMay(): (right: Right | undefined) => boolean {
  const rights = use(Rights)
  return (right) => right === undefined || rights === undefined || rights.includes(right)
}

/** Something for those alone who may do it. */
export function IfMay({ right, children }: { right: Right; children: ReactNode }) {
  return useMay()(right) ? children : null
}
