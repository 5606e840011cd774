import { minutes } from '../platform/kernel/clock.ts'
import type { Metrics } from '../platform/metrics.ts'
import type { UploadContext } from '../uploads/upload-context.ts'

/** Why a connection was closed or a sign-in refused. */
export type Refusal =
  | 'connections'
  | 'connections_of_network'
  | 'signing_in'
  | 'signing_in_of_network'
  | 'key_exchanges'
  | 'key_exchanges_of_network'
  | 'sign_in_late'
  | 'sign_in_bytes'
  | 'sign_in_attempts'
  | 'password'
  | 'key'
  | 'exchanged_again'
  | 'unread_answers'
  | 'malformed'
  | 'bytes_before_tls'
  | 'data_of_stranger'
  | 'data_elsewhere'
  | 'data_session'

type Said = { sinceMs: number; more: number; client: string }

const SAY_EVERY_MS = minutes(1)

/**
 * Counts refusals. The first refusal for each reason is logged immediately, and further ones as a count once a minute,
 * so that a flood of connections does not flood the log.
 */
export class Refusals {
  readonly #context: Pick<UploadContext, 'clock' | 'log'>
  readonly #of: { protocol: string; counter: Metrics['sftpRefusals'] }
  readonly #said = new Map<Refusal, Said>()

  constructor(
    context: Pick<UploadContext, 'clock' | 'log'>,
    of: { protocol: string; counter: Metrics['sftpRefusals'] },
  ) {
    this.#context = context
    this.#of = of
  }

  count(reason: Refusal, client: string): void {
    const { clock, log } = this.#context
    this.#of.counter.inc({ reason })
    const said = this.#said.get(reason)
    if (said) {
      said.more += 1
      said.client = client
      return
    }
    this.#said.set(reason, { sinceMs: clock.now(), more: 0, client })
    log.warn({ reason, client }, `${this.#of.protocol}: refused`)
  }

  /** Call this about once a second. */
  look(nowMs: number): void {
    for (const [reason, { sinceMs, more, client }] of this.#said) {
      if (nowMs - sinceMs < SAY_EVERY_MS) continue
      if (more === 0) {
        this.#said.delete(reason)
        continue
      }
      this.#said.set(reason, { sinceMs: nowMs, more: 0, client })
      this.#context.log.warn({ reason, more, lastClient: client }, `${this.#of.protocol}: refused more`)
    }
  }
}
