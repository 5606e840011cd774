import type { FileProtocol } from '#drizzle/schema/index.ts'

/** The protocol whose uploads are complete when their client says so, not when their length is reached. */
export const COMPLETED_BY_CLIENT = 'resumable-http' satisfies FileProtocol
