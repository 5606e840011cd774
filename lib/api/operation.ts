import type { z } from 'zod'
import type { Actor } from '../identity/audit/record-audit.ts'
import type { Right } from '../identity/rights.ts'
import type { ErrorCode } from '../platform/kernel/errors.ts'
import type { Runtime } from '../platform/runtime.ts'
import type { ApiRequest } from './answer-request.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

type Call<Query, Body, Who> = {
  runtime: Runtime
  who: Who
  /** Path parameters, unparsed: the verbs validate them. */
  params: Record<string, string>
  query: Query
  body: Body
  asked: ApiRequest
}

type Schema = z.ZodType

/** An error code that an operation may return, with the status if it is not the usual one for the code. */
export type Problem = ErrorCode | { code: ErrorCode; status: number }

/**
 * An API operation. Routes, `openapi.json` and the test that calls every operation are all built from these objects, so
 * they cannot disagree. An operation contains no business rules: it parses, calls a verb and responds.
 */
export type Operation<Query = unknown, Body = unknown, Answer = unknown, Who = unknown> = {
  id: string
  method: Method
  /** Below `/api/v1`, with `{name}` for parameters. */
  path: string
  tag: string
  summary: string
  /**
   * Who may call it. `actor`: an account key (`ak_`), for its workspace. `sender`: a Sender token (`sk_`). `nobody`:
   * anyone.
   */
  auth: 'actor' | 'sender' | 'nobody'
  /** The right that an actor needs. */
  right?: Right
  query?: Schema
  body?: Schema
  status: 200 | 201 | 202 | 204
  answer?: Schema
  /**
   * For Senders: whether sending the same request with the same Idempotency-Key again returns the first response. For
   * actors, this is true of every POST.
   */
  once?: boolean
  /** Whether its own statement checks the Sender token, which is faster than a separate one. */
  checksToken?: boolean
  /** Errors in addition to those that every operation of this kind may return. */
  problems?: Problem[]
  /** Whether it responds with server-sent events for as long as the client is connected. */
  stream?: boolean
  /** Whether it uses the network, and so runs outside a transaction. */
  network?: boolean
  /** Runs before `run` and its transaction, for work that takes long. Its result is what `run` gets as its body. */
  prepare?(body: Body): Promise<Body>
  run(call: Call<Query, Body, Who>): Promise<Answer>
  /** Runs after `run` has been committed, and may use the network. Its response replaces that of `run`. */
  after?(call: Call<Query, Body, Who>, answer: Answer): Promise<Answer>
}

/** Whether an operation supports Idempotency-Key. */
export function isOnce({ method, auth, once }: Operation): boolean {
  return method === 'POST' && (auth === 'actor' || once === true)
}

type Parsed<S extends Schema | undefined> = S extends Schema ? z.output<S> : undefined
type TypedAnswer<A extends Schema | undefined> = A extends Schema ? z.input<A> : unknown

type Typed<
  Q extends Schema | undefined,
  B extends Schema | undefined,
  A extends Schema | undefined,
  Who,
  Prepared = Parsed<B>,
> = Partial<Omit<Operation, TypedKey>> & {
  id: string
  summary: string
  query?: Q
  body?: B
  answer?: A
  prepare?(body: Parsed<B>): Promise<Prepared>
  run(call: Call<Parsed<Q>, Prepared, Who>): Promise<TypedAnswer<A>>
  after?(call: Call<Parsed<Q>, Prepared, Who>, answer: TypedAnswer<A>): Promise<TypedAnswer<A>>
}

type TypedKey =
  | ('id' | 'summary' | 'auth' | 'right' | 'query' | 'body')
  | ('answer' | 'prepare' | 'run' | 'after')

type Address = `${Method} /${string}`

/**
 * Builds the operations in one chapter of the reference: `operation('GET /pipes/{id}', { … })`. The status is 200
 * unless specified.
 */
export function operationsOf(tag: string) {
  const complete = (auth: Operation['auth'], address: Address, row: object) => {
    const [method, path] = address.split(' ')
    return { status: 200, ...row, tag, method, path, auth } as unknown as Operation
  }
  return {
    /** An operation of the management API, which is called with an account key. */
    operation: <
      Q extends Schema | undefined = undefined,
      B extends Schema | undefined = undefined,
      A extends Schema | undefined = undefined,
      Prepared = Parsed<B>,
    >(
      address: Address,
      row: Typed<Q, B, A, Actor, Prepared> & { right: Right },
    ) => complete('actor', address, row),
    /** An operation that a customer's backend calls with a Sender token. */
    senderOperation: <
      Q extends Schema | undefined = undefined,
      B extends Schema | undefined = undefined,
      A extends Schema | undefined = undefined,
    >(
      address: Address,
      row: Typed<Q, B, A, string>,
    ) => complete('sender', address, row),
    /** An operation that anyone can call without a key. */
    openOperation: <
      Q extends Schema | undefined = undefined,
      B extends Schema | undefined = undefined,
      A extends Schema | undefined = undefined,
    >(
      address: Address,
      row: Typed<Q, B, A, undefined>,
    ) => complete('nobody', address, row),
  }
}
