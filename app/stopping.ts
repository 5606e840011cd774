const ending = new AbortController()
process.once('SIGTERM', () => ending.abort())

/** A stream would keep the server from closing. */
export const stopping: AbortSignal = ending.signal
