import type { FileProtocol } from '#drizzle/schema/index.ts'

/** Uploads of this protocol are complete when their client says so, not when their length is reached. */
export const ENDS_WHEN_TOLD = 'resumable-http' satisfies FileProtocol
