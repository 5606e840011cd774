import type { StopReason } from '../lease/held-lease.ts'
import type { PartBuffer } from '../memory/part-buffer.ts'

/** What the body of a request is cut into. */
export type Piece = Full | Spill | Rest

/** The bytes that fill the next part. */
type Full = { kind: 'part'; buffer: PartBuffer }

/**
 * Fewer bytes, because others need the memory. Call `stored`; if they go to the database, with the promise of that
 * write.
 */
type Spill = { kind: 'spill'; buffer: PartBuffer; stored: (until?: Promise<void>) => void }

/** The bytes that had not filled a part when the request ended, and why it ended. */
export type Rest = { kind: 'rest'; buffer: PartBuffer; why: 'end' | 'cut' | 'overrun' | StopReason }
