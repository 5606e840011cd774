import type {
  BatchCompleted,
  DataStoreFailing,
  DataStoreRecovered,
  FileCreated,
  FileStatusChanged,
  OutputTurnedOff,
  UsageThreshold,
} from './generated/types.ts'

/** Every event that an output can subscribe to; `event` distinguishes them. */
export type SluiceEvent =
  | FileStatusChanged
  | FileCreated
  | BatchCompleted
  | DataStoreFailing
  | DataStoreRecovered
  | OutputTurnedOff
  | UsageThreshold

export type EventKind = SluiceEvent['event']

/** The events of the given kinds. */
export type EventOf<Kind extends EventKind> = Extract<SluiceEvent, { event: Kind }>
