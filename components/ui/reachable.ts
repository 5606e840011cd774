/** For a scrollable box: keyboard users must be able to focus it, although it is not a control. */
export const REACHABLE = { tabIndex: 0 } as const
