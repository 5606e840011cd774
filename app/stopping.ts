const ending = new AbortController()
process.once('SIGTERM', () => ending.abort())

/** Aborts on SIGTERM, because an open stream would keep the server from closing. */
export const stopping: AbortSignal = ending.signal
