import type { StopReason } from '../lease/held-lease.ts'
import type { PartBuffer } from '../memory/part-buffer.ts'

/** What the body of a request is cut into. */
export type Piece = Full | Spill | Rest

/** As many bytes as fill the next part. */
type Full = { kind: 'part'; buffer: PartBuffer }

/** Fewer, because others need their memory. Call `stored` with the promise of their write, if they go to the database. */
type Spill = { kind: 'spill'; buffer: PartBuffer; stored: (until?: Promise<void>) => void }

/** What has not filled a part when the request ends, and why it ended. */
export type Rest = { kind: 'rest'; buffer: PartBuffer; why: 'end' | 'cut' | 'overrun' | StopReason }
