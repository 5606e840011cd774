export { type CallOptions, createSluice, type Listing, type Sluice, type SluiceOptions } from './client.ts'
export { createDecisionHandler, type DecisionHandlerOptions } from './decision-handler.ts'
export type { EventKind, EventOf, SluiceEvent } from './event-kinds.ts'
export type { EventsOptions } from './events.ts'
export type {
  BeforeCompleteAnswer,
  BeforeCompleteQuestion,
  BeforeCreateAnswer,
  BeforeCreateQuestion,
  ErrorCode,
  FileStatusChanged as FileEvent,
} from './generated/types.ts'
export { SluiceError } from './sluice-error.ts'
export { createTokenHandler, type TokenGrant, type TokenHandlerOptions } from './token-handler.ts'
export * as webhooks from './webhooks.ts'
