/** For a box that scrolls: those who use the keyboard must be able to reach it, though it is no control. */
export const REACHABLE = { tabIndex: 0 } as const
