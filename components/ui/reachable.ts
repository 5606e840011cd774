/** For a box that scrolls: keyboard users must be able to reach it, although it is not a control. */
export const REACHABLE = { tabIndex: 0 } as const
